import { describe, expect, test } from "bun:test";
import { deletePage } from "../../../src/features/pages/deletion";
import { CLI_ACTOR } from "../../../src/base/actor";
import { expectProblem, versionOf } from "../../support/app";
import {
  at,
  createMaintenanceSite,
  type MaintenanceSite,
  STEPS_TO,
} from "../../support/maintenance-site";
import { MAIL_OFF, withoutMail } from "../../support/written-mail";

const STATUSES = ["scheduled", "in_progress", "verifying", "completed", "cancelled"] as const;
type Status = (typeof STATUSES)[number];

const ALLOWED: Record<Status, Status[]> = {
  scheduled: ["scheduled", "in_progress", "cancelled"],
  in_progress: ["in_progress", "verifying", "completed", "cancelled"],
  verifying: ["in_progress", "verifying", "completed", "cancelled"],
  completed: [],
  cancelled: [],
};

async function bring(site: MaintenanceSite, to: Status): Promise<string> {
  const id = await site.plan();
  for (const status of STEPS_TO[to]) await site.update(id, { status, body: "On we go." });
  expect((await site.get(id)).status).toBe(to);
  return id;
}

describe("an update of a maintenance", () => {
  for (const from of STATUSES) {
    test(`an update of a maintenance with the status ${from} accepts allowed statuses, and others are a conflict that writes nothing`, async () => {
      await using site = await createMaintenanceSite();
      for (const status of STATUSES) {
        const id = await bring(site, from);
        const before = await site.state();
        const answer = await site.update(id, { status, body: "On we go." });
        if (ALLOWED[from].includes(status)) {
          expect(answer.status).toBe(201);
          expect((await site.get(id)).status).toBe(status);
        } else {
          expectProblem(answer, "conflict");
          expect(await site.state()).toEqual(before);
        }
      }
    });
  }

  test("POST of an update returns the update with the maintenance's new version", async () => {
    await using site = await createMaintenanceSite();
    const id = await site.plan();
    await site.clock.advance(60_000);
    const answer = await site.update(id, { status: "in_progress", body: "We have *begun*." });
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^upd_/),
      status: "in_progress",
      body: "We have *begun*.",
      display_at: at("12:01:00"),
      created_at: at("12:01:00"),
      maintenance_id: id,
      version: 2,
      mail: MAIL_OFF,
    });
    expect(versionOf(answer)).toBe(2);
    const location = `/api/v1/maintenance/${id}/updates/${answer.body.id}`;
    expect(answer.headers.get("location")).toBe(`https://status.test${location}`);
    expect((await site.app.call(location, { key: site.key })).body).toEqual(
      withoutMail(answer.body),
    );
    expectProblem(await site.call(`/${id}/updates/upd_x`), "not_found");
    expect(await site.get(id)).toMatchObject({
      status: "in_progress",
      started_at: at("12:01:00"),
      version: 2,
      updates: [{ body: "We have *begun*." }, { body: "A minute without search." }],
    });
  });

  test("an update without a status keeps the status of the maintenance", async () => {
    await using site = await createMaintenanceSite();
    const id = await bring(site, "verifying");
    const { body } = await site.update(id, { body: "Still checking." });
    expect(body.status).toBe("verifying");
    expect(await site.get(id)).toMatchObject({ status: "verifying", completed_at: null });
    expect(await site.statusOf("API")).toBe("under_maintenance");
  });

  test("each update of a maintenance records an event whose type names the change", async () => {
    await using site = await createMaintenanceSite();
    const id = await site.plan();
    for (const status of ["in_progress", "verifying", "in_progress", "completed"]) {
      await site.update(id, { status, body: "On we go." });
    }
    await site.cancel(await site.plan());
    expect(site.eventTypes()).toEqual([
      "maintenance.scheduled",
      "maintenance.started",
      "maintenance.updated",
      "maintenance.updated",
      "maintenance.completed",
      "maintenance.scheduled",
      "maintenance.cancelled",
    ]);
  });

  test("an update of a maintenance takes effect at its display_at, which must not precede the previous update", async () => {
    await using site = await createMaintenanceSite();
    const id = await site.plan();
    await site.clock.advance(3_600_000);
    const start = { status: "in_progress", body: "Begun." };
    expect((await site.update(id, { ...start, display_at: at("12:30:00") })).status).toBe(201);
    const before = await site.state();
    const end = { status: "completed", body: "Done." };
    for (const display_at of [at("12:29:59"), at("13:01:01"), "2026-03-10T12:45:00", "now"]) {
      const problem = expectProblem(
        await site.update(id, { ...end, display_at }),
        "validation_failed",
      );
      expect(problem.errors).toHaveLength(1);
      expect(problem.errors[0].pointer).toBe("#/display_at");
    }
    expect(await site.state()).toEqual(before);
    await site.update(id, { ...end, display_at: at("12:45:00") });
    expect(await site.get(id)).toMatchObject({
      started_at: at("12:30:00"),
      completed_at: at("12:45:00"),
    });
    expect(site.causes()).toEqual([{ component: "API", from: at("12:30:00"), to: at("12:45:00") }]);
  });

  test("an update with a display_at slightly in the future takes effect now", async () => {
    await using site = await createMaintenanceSite();
    const id = await site.plan();
    const update = { status: "in_progress", body: "Begun.", display_at: at("12:00:59") };
    expect((await site.update(id, update)).body.display_at).toBe(at("12:00:00"));
    expect(await site.statusOf("API")).toBe("under_maintenance");
  });

  test("an update follows the previous one even if the clock was set back", async () => {
    await using site = await createMaintenanceSite();
    const id = await bring(site, "in_progress");
    site.clock.setWallClock(site.clock.now() - 3_600_000);
    await site.update(id, { status: "completed", body: "Done." });
    expect(await site.get(id)).toMatchObject({
      status: "completed",
      completed_at: at("12:00:00"),
      updates: [{ status: "completed" }, { status: "in_progress" }, { status: "scheduled" }],
    });
    expect(await site.statusOf("API")).toBe("operational");
  });

  test.each([
    [{}, ["#/body"]],
    [{ body: "" }, ["#/body"]],
    [{ body: "x".repeat(10_001) }, ["#/body"]],
    [{ body: "x", status: "done" }, ["#/status"]],
    [{ body: "x", components: [] }, ["#/components"]],
    [{ body: "x", notify: "no" }, ["#/notify"]],
  ])(
    "an update of a maintenance with %j is rejected, and nothing is written",
    async (json, pointers) => {
      await using site = await createMaintenanceSite();
      const id = await site.plan();
      const before = await site.state();
      const problem = expectProblem(await site.update(id, json), "validation_failed");
      expect(problem.errors.map((error: { pointer: string }) => error.pointer)).toEqual(pointers);
      expect(await site.state()).toEqual(before);
    },
  );

  test("an update sent twice with one Idempotency-Key is written once, also if it completed the maintenance", async () => {
    await using site = await createMaintenanceSite();
    const id = await bring(site, "in_progress");
    const sent = {
      method: "POST",
      json: { status: "completed", body: "Done." },
      headers: { "idempotency-key": "done" },
    };
    const first = await site.call(`/${id}/updates`, sent);
    const again = await site.call(`/${id}/updates`, sent);
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.text).toBe(first.text);
    expect((await site.get(id)).updates).toHaveLength(3);
    expect(site.eventTypes().filter((type) => type === "maintenance.completed")).toHaveLength(1);
  });

  test("changes of an unknown maintenance or one of a deleted page are not_found", async () => {
    await using site = await createMaintenanceSite();
    const unknown = "mnt_00000000000000000000000000";
    expectProblem(await site.update(unknown, { body: "x" }), "not_found");
    expectProblem(await site.cancel(unknown), "not_found");
    expectProblem(await site.patch(unknown, { name: "x" }), "not_found");
    const id = await site.plan();
    const { ctx } = site.app;
    await ctx.db.write((tx) => deletePage(ctx, tx, site.page.id, CLI_ACTOR));
    const events = site.app.events();
    expectProblem(await site.update(id, { body: "x" }), "not_found");
    expectProblem(await site.cancel(id), "not_found");
    expectProblem(await site.call(`/${id}`), "not_found");
    expect((await site.call("")).body.data).toEqual([]);
    expect(site.app.events()).toEqual(events);
  });
});

describe("POST /api/v1/maintenance/{id}/cancel", () => {
  test("POST of cancel cancels a scheduled maintenance and ends one in progress", async () => {
    await using site = await createMaintenanceSite();
    const planned = await bring(site, "scheduled");
    const answer = await site.cancel(planned);
    expect(answer.status).toBe(200);
    expect(versionOf(answer)).toBe(2);
    expect(answer.body).toMatchObject({
      status: "cancelled",
      started_at: null,
      completed_at: null,
      updates: [{ status: "cancelled" }, { status: "scheduled" }],
    });
    const underWay = await bring(site, "in_progress");
    await site.clock.advance(1_000);
    await site.cancel(underWay);
    expect(await site.get(underWay)).toMatchObject({ status: "cancelled", completed_at: null });
    expect(await site.statusOf("API")).toBe("operational");
    expect(site.causes()).toEqual([{ component: "API", from: at("12:00:00"), to: at("12:00:01") }]);
  });

  test("POST of cancel is a conflict for an ended maintenance, and nothing is written", async () => {
    await using site = await createMaintenanceSite();
    for (const status of ["completed", "cancelled"] as const) {
      const id = await bring(site, status);
      const before = await site.state();
      expectProblem(await site.cancel(id), "conflict");
      expect(await site.state()).toEqual(before);
    }
  });

  test("POST of cancel with a stale If-Match changes nothing, and with the current version cancels", async () => {
    await using site = await createMaintenanceSite();
    const id = await bring(site, "in_progress");
    const before = await site.state();
    const cancel = (tag: string) =>
      site.call(`/${id}/cancel`, { method: "POST", headers: { "if-match": tag } });
    expectProblem(await cancel('"1"'), "precondition_failed");
    expect(await site.state()).toEqual(before);
    expect((await cancel('"2"')).status).toBe(200);
  });
});
