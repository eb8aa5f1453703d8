import { describe, expect, test } from "bun:test";
import { expectProblem, versionOf } from "../../support/app";
import { at, createMaintenanceSite, PLAN } from "../../support/maintenance-site";
import { shareSite } from "../../support/shared-site";
import { MAIL_OFF, withoutMail } from "../../support/written-mail";

const UNKNOWN = "cmp_00000000000000000000000000";

describe("POST /api/v1/maintenance", () => {
  const shared = shareSite(createMaintenanceSite);

  test("POST /api/v1/maintenance plans a maintenance, records one event and the actor", async () => {
    await using site = await createMaintenanceSite();
    const answer = await site.post();
    expect(answer.status).toBe(201);
    const { id } = answer.body;
    expect(answer.headers.get("location")).toBe(`https://status.test/api/v1/maintenance/${id}`);
    expect(versionOf(answer)).toBe(1);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^mnt_[0-9a-z]{26}$/),
      page: "acme",
      page_id: site.page.id,
      name: "Database upgrade",
      status: "scheduled",
      components: [{ id: site.ids["API"], name: "API" }],
      scheduled_for: at("14:00:00"),
      scheduled_until: at("15:00:00"),
      started_at: null,
      completed_at: null,
      auto_start: true,
      auto_complete: true,
      remind_minutes_before: 60,
      schedule_id: null,
      occurrence_at: null,
      url: `https://status.test/status/acme/maintenance/${id}`,
      version: 1,
      created_at: at("12:00:00"),
      updated_at: at("12:00:00"),
      updates: [
        {
          id: expect.stringMatching(/^upd_/),
          status: "scheduled",
          body: "A minute without search.",
          display_at: at("12:00:00"),
          created_at: at("12:00:00"),
          mail: MAIL_OFF,
        },
      ],
    });
    expect(await site.get(id)).toEqual(withoutMail(answer.body));
    expect(site.eventTypes()).toEqual(["maintenance.scheduled"]);
    expect(site.app.audit().at(-1)).toMatchObject({
      action: "maintenance.plan",
      actorKind: "key",
      targetId: id,
    });
    expect(await site.statusOf("API")).toBe("operational");
  });

  test("POST /api/v1/maintenance accepts a page id, time zones, no components, no reminder and no automatic changes", async () => {
    await using site = await createMaintenanceSite();
    const { body } = await site.post({
      page: site.page.id,
      name: "Büro 🔧",
      components: [],
      scheduled_for: "2026-03-10T16:00:00+01:00",
      scheduled_until: "2026-03-10T16:00:00.5+01:00",
      auto_start: false,
      auto_complete: false,
      remind_minutes_before: null,
      notify: false,
    });
    expect(body).toMatchObject({
      page: "acme",
      name: "Büro 🔧",
      components: [],
      scheduled_for: at("15:00:00"),
      scheduled_until: "2026-03-10T15:00:00.500Z",
      auto_start: false,
      auto_complete: false,
      remind_minutes_before: null,
    });
    expect(site.app.events()[0]?.data["notify"]).toBe(false);
  });

  test("a plan sent twice with one Idempotency-Key creates one maintenance", async () => {
    await using site = await createMaintenanceSite();
    const sent = {
      method: "POST",
      json: { ...PLAN, components: [] },
      headers: { "idempotency-key": "deploy-42" },
    };
    const first = await site.call("", sent);
    const again = await site.call("", sent);
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.text).toBe(first.text);
    expect((await site.call("")).body.data).toHaveLength(1);
    expect(site.eventTypes()).toEqual(["maintenance.scheduled"]);
  });

  test.each([
    [{ page: "nobody" }, ["#/page"]],
    [{ page: undefined, name: undefined, body: undefined }, ["#/page", "#/name", "#/body"]],
    [{ components: undefined }, ["#/components"]],
    [{ components: [UNKNOWN] }, ["#/components/0"]],
    [{ components: ["x", "x"] }, ["#/components"]],
    [{ name: "" }, ["#/name"]],
    [{ name: "x".repeat(256) }, ["#/name"]],
    [{ name: "a\u202eb" }, ["#/name"]],
    [{ body: "" }, ["#/body"]],
    [{ body: "x".repeat(100_000) }, ["#/body"]],
    [{ scheduled_for: "2026-03-10T14:00:00" }, ["#/scheduled_for"]],
    [{ scheduled_for: "2026-03-10" }, ["#/scheduled_for"]],
    [{ scheduled_for: "2026-02-30T14:00:00Z" }, ["#/scheduled_for"]],
    [{ scheduled_until: "2016-12-31T23:59:60Z" }, ["#/scheduled_until"]],
    [{ scheduled_until: "10000-01-01T00:00:00Z" }, ["#/scheduled_until"]],
    [{ scheduled_until: "9999-12-31T23:59:59-01:00" }, ["#/scheduled_until"]],
    [{ scheduled_until: at("14:00:00") }, ["#/scheduled_until"]],
    [{ scheduled_until: at("13:00:00") }, ["#/scheduled_until"]],
    [{ scheduled_for: 1, scheduled_until: null }, ["#/scheduled_for", "#/scheduled_until"]],
    [{ remind_minutes_before: 0 }, ["#/remind_minutes_before"]],
    [{ remind_minutes_before: 1.5 }, ["#/remind_minutes_before"]],
    [{ remind_minutes_before: 43_201 }, ["#/remind_minutes_before"]],
    [{ auto_start: "yes", notify: 1 }, ["#/auto_start", "#/notify"]],
    [{ status: "in_progress", when: "now" }, ["#/status", "#/when"]],
    [{ page: "nobody", scheduled_until: at("13:00:00") }, ["#/page", "#/scheduled_until"]],
  ])(
    "a plan with %j is rejected with all fields at fault, and nothing is written",
    async (input, pointers) => {
      const site = await shared();
      const before = await site.state();
      const problem = expectProblem(await site.post(input), "validation_failed");
      const named = problem.errors.map((error: { pointer: string }) => error.pointer);
      expect(named.toSorted()).toEqual(pointers.toSorted());
      expect(await site.state()).toEqual(before);
    },
  );

  test("a plan with a component of another page is rejected with the component's index", async () => {
    await using site = await createMaintenanceSite();
    const other = await site.app.page({ slug: "other" }, ["Elsewhere"]);
    const components = [site.ids["API"], other.components["Elsewhere"]];
    const before = await site.state();
    const problem = expectProblem(await site.post({ components }), "validation_failed");
    expect(problem.errors).toEqual([
      { pointer: "#/components/1", detail: "is not a component of the page" },
    ]);
    expect(await site.state()).toEqual(before);
  });

  test("a plan lists components in the page's order and may overlap with another", async () => {
    await using site = await createMaintenanceSite();
    const { API, Web } = site.ids;
    const { body } = await site.post({ components: [Web, API] });
    expect(body.components.map(({ name }: { name: string }) => name)).toEqual(["API", "Web"]);
    expect((await site.post({ components: [API] })).status).toBe(201);
  });
});

describe("GET /api/v1/maintenance/{id}", () => {
  test("GET of a maintenance is 304 for its current ETag, and not_found for an unknown id", async () => {
    await using site = await createMaintenanceSite();
    const id = await site.plan();
    const etag = (await site.call(`/${id}`)).headers.get("etag") ?? "";
    const known = await site.call(`/${id}`, { headers: { "if-none-match": etag } });
    expect(known.status).toBe(304);
    expectProblem(await site.call("/mnt_00000000000000000000000000"), "not_found");
  });
});
