import { describe, expect, test } from "bun:test";
import { versionOf } from "../../support/app";
import { createIncidentSite, INCIDENTS } from "../../support/incident-site";
import { MAIL_OFF, withoutMail } from "../../support/written-mail";

describe("POST /api/v1/incidents", () => {
  test("a new incident signals one change of its page, even if it changes components", async () => {
    await using site = await createIncidentSite();
    const changedPages: string[] = [];
    site.app.ctx.signals.pageChanged.on((id) => changedPages.push(id));
    const components = { [site.api]: "partial_outage", [site.web]: "major_outage" };
    const { body } = await site.post({ name: "Elevated errors", components });
    expect(changedPages).toEqual([body.page_id]);
  });

  test("POST /api/v1/incidents creates an incident with its first update and applies the statuses that it names", async () => {
    await using site = await createIncidentSite();
    const answer = await site.post({
      name: "Elevated errors 🚒",
      components: { [site.api]: "partial_outage" },
    });
    expect(answer.status).toBe(201);
    const { body } = answer;
    expect(body.id).toMatch(/^inc_[0-9a-z]{26}$/);
    expect(answer.headers.get("location")).toBe(`https://status.test${INCIDENTS}/${body.id}`);
    expect(versionOf(answer)).toBe(1);
    expect(body).toEqual({
      id: body.id,
      page: "acme",
      page_id: expect.stringMatching(/^page_/),
      name: "Elevated errors 🚒",
      status: "investigating",
      impact: "major",
      impact_override: null,
      components: [{ id: site.api, name: "API", status: "partial_outage" }],
      source: "api",
      draft: false,
      external_ref: null,
      started_at: "2026-03-10T12:00:00.000Z",
      identified_at: null,
      monitoring_at: null,
      resolved_at: null,
      postmortem: null,
      url: `https://status.test/status/acme/incidents/${body.id}`,
      version: 1,
      created_at: "2026-03-10T12:00:00.000Z",
      updated_at: "2026-03-10T12:00:00.000Z",
      updates: [
        {
          id: expect.stringMatching(/^upd_/),
          status: "investigating",
          body: "We look into it.",
          components: [
            { id: site.api, name: "API", old_status: "operational", new_status: "partial_outage" },
          ],
          display_at: "2026-03-10T12:00:00.000Z",
          created_at: "2026-03-10T12:00:00.000Z",
          mail: MAIL_OFF,
        },
      ],
    });
    expect(await site.read(body.id)).toEqual(withoutMail(body));
    expect(await site.shown()).toEqual({ api: "partial_outage", web: "operational" });
    const component = await site.app.call(`/api/v1/components/${site.api}`, { key: site.key });
    expect(component.body).toMatchObject({
      baseline_status: "operational",
      causes: [{ source: "incident", id: body.id, status: "partial_outage" }],
    });
    expect(site.newEventTypes()).toEqual(["incident.created", "component.status_changed"]);
    expect(site.app.audit().at(-1)).toMatchObject({
      action: "incident.create",
      targetId: body.id,
      summary: "Opened the incident “Elevated errors 🚒”",
      actorKind: "key",
    });
  });

  test("POST /api/v1/incidents accepts the page's id as well as its slug", async () => {
    await using site = await createIncidentSite();
    const { page_id } = await site.open();
    expect((await site.open({ page: page_id })).page).toBe("acme");
  });

  test("the component's history names the incident and the actor of a change", async () => {
    await using site = await createIncidentSite();
    await site.open({ name: "Fire", components: { [site.api]: "major_outage" } });
    const path = `/api/v1/components/${site.api}/history`;
    const history = await site.app.call(path, { key: site.key });
    expect(history.body.data).toMatchObject([
      {
        from: "operational",
        to: "major_outage",
        source: "incident",
        reason: "Fire",
        actor: { kind: "key", label: "test" },
      },
    ]);
  });

  test("an incident without components changes the page's updated_at", async () => {
    await using site = await createIncidentSite();
    const read = async () =>
      (await site.app.call("/api/v1/status/acme", { key: site.key })).body.updated_at;
    const before = await read();
    await site.app.clock.advance(1_000);
    await site.open();
    expect(await read()).not.toBe(before);
  });

  test.each([
    [{}, "none"],
    [{ api: "operational" }, "none"],
    [{ api: "under_maintenance" }, "none"],
    [{ api: "degraded_performance" }, "minor"],
    [{ api: "partial_outage", web: "degraded_performance" }, "major"],
    [{ api: "partial_outage", web: "major_outage" }, "critical"],
  ] as const)("an incident with the components %j has the impact %s", async (named, impact) => {
    await using site = await createIncidentSite();
    const components = Object.fromEntries(
      Object.entries(named).map(([name, status]) => [site[name as "api" | "web"], status]),
    );
    expect((await site.open({ components })).impact).toBe(impact);
  });

  test("impact_override replaces the impact, and null restores the computed impact", async () => {
    await using site = await createIncidentSite();
    const components = { [site.api]: "major_outage" };
    const { id, impact } = await site.open({ components, impact_override: "minor" });
    expect(impact).toBe("minor");
    const { body } = await site.patch(id, { impact_override: null });
    expect(body).toMatchObject({ impact: "critical", impact_override: null });
  });
});

describe("an incident reported afterwards", () => {
  test("an incident with only a past resolved_at starts and ends at that time", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open({
      components: { [site.api]: "major_outage" },
      resolved_at: "2026-03-10T11:00:00Z",
    });
    const then = "2026-03-10T11:00:00.000Z";
    const times = { started_at: then, resolved_at: then };
    expect(await site.read(id)).toMatchObject({
      status: "resolved",
      ...times,
      updates: [{ display_at: then }],
    });
    expect(await site.shown()).toEqual({ api: "operational", web: "operational" });
    expect((await site.patch(id, { started_at: "2026-03-10T10:00:00Z" })).status).toBe(200);
  });

  test("an incident with a resolved_at slightly ahead of the server's clock starts now", async () => {
    await using site = await createIncidentSite();
    const body = await site.open({ resolved_at: "2026-03-10T12:00:30Z" });
    expect(body).toMatchObject({
      started_at: "2026-03-10T12:00:00.000Z",
      resolved_at: "2026-03-10T12:00:30.000Z",
    });
  });

  test("an incident with past start and end is resolved and leaves current component statuses unchanged", async () => {
    await using site = await createIncidentSite();
    const body = await site.open({
      components: { [site.api]: "major_outage" },
      started_at: "2026-03-10T10:00:00Z",
      resolved_at: "2026-03-10T12:30:00+01:30",
    });
    expect(body).toMatchObject({
      status: "resolved",
      impact: "critical",
      started_at: "2026-03-10T10:00:00.000Z",
      resolved_at: "2026-03-10T11:00:00.000Z",
      updates: [{ display_at: "2026-03-10T11:00:00.000Z", created_at: "2026-03-10T12:00:00.000Z" }],
    });
    expect(await site.shown()).toEqual({ api: "operational", web: "operational" });
    expect(site.newEventTypes()).toEqual(["incident.created"]);
  });

  test("an incident created as resolved without a time is resolved now", async () => {
    await using site = await createIncidentSite();
    const body = await site.open({ status: "resolved" });
    expect(body.resolved_at).toBe("2026-03-10T12:00:00.000Z");
  });

  test("updates of a past incident take effect at their own display_at, in any order of writing", async () => {
    await using site = await createIncidentSite();
    const { id } = await site.open({
      started_at: "2026-03-10T09:00:00Z",
      components: { [site.api]: "partial_outage" },
    });
    const at = (time: string) => `2026-03-10T${time}:00Z`;
    await site.update(id, { status: "resolved", display_at: at("11:00") });
    await site.update(id, { status: "identified", display_at: at("09:30") });
    const late = await site.update(id, { body: "In between.", display_at: at("10:00") });
    expect(late.body.status).toBe("identified");
    const body = await site.read(id);
    expect(body).toMatchObject({
      status: "resolved",
      identified_at: "2026-03-10T09:30:00.000Z",
      resolved_at: "2026-03-10T11:00:00.000Z",
    });
    const changedPages = body.updates.map((each: { display_at: string }) =>
      each.display_at.slice(11, 16),
    );
    expect(changedPages).toEqual(["11:00", "10:00", "09:30", "09:00"]);
  });
});
