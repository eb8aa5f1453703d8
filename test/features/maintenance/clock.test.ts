import { describe, expect, spyOn, test } from "bun:test";
import { startMaintenanceClock } from "../../../src/features/maintenance/clock";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/base/time";
import { createTestApp, type TestApp } from "../../support/app";
import { createTestClock, settle } from "../../support/clock";
import {
  at,
  createMaintenanceSite,
  MAINTENANCE_PATH,
  type MaintenanceSite,
  PLAN,
} from "../../support/maintenance-site";
import { temporaryFolder } from "../../support/temporary-folder";

/** Returns the events of maintenance other than `maintenance.scheduled`, each with its name. */
function steps(app: TestApp): string[] {
  return app
    .events()
    .filter(({ type }) => type.startsWith("maintenance.") && type !== "maintenance.scheduled")
    .map(({ type, data }) => `${data["name"]} ${type.slice("maintenance.".length)}`);
}

describe("the maintenance clock", () => {
  test("the clock starts and completes a maintenance within a second of its times, with the system as actor", async () => {
    await using site = await createMaintenanceSite({ isClockRunning: true });
    const id = await site.plan({ remind_minutes_before: null });
    await site.skip(2 * HOUR_MS - MINUTE_MS);
    await site.clock.advance(MINUTE_MS - 1);
    expect((await site.get(id)).status).toBe("scheduled");
    await site.clock.advance(SECOND_MS);
    expect(await site.get(id)).toMatchObject({
      status: "in_progress",
      started_at: at("14:00:00"),
      version: 2,
      updates: [{ status: "in_progress", display_at: at("14:00:00") }, { status: "scheduled" }],
    });
    expect(await site.statusOf("API")).toBe("under_maintenance");
    expect(await site.statusOf("Web")).toBe("operational");
    await site.skip(HOUR_MS - MINUTE_MS);
    expect((await site.get(id)).status).toBe("in_progress");
    await site.clock.advance(MINUTE_MS);
    expect(await site.get(id)).toMatchObject({ status: "completed", completed_at: at("15:00:00") });
    expect(await site.statusOf("API")).toBe("operational");
    expect(steps(site.app)).toEqual(["Database upgrade started", "Database upgrade completed"]);
    const history = await site.app.call(`/api/v1/components/${site.ids["API"]}/history`, {
      key: site.key,
    });
    expect(history.body.data).toMatchObject([
      { to: "operational", source: "maintenance", reason: "Database upgrade" },
      { to: "under_maintenance", actor: { kind: "system", id: null, label: "Allclear" } },
    ]);
    expect(site.app.audit().slice(-2)).toMatchObject([
      { action: "maintenance.start", actorKind: "system", targetId: id },
      { action: "maintenance.complete", actorKind: "system", targetId: id },
    ]);
  });

  test("the clock reads nothing until a transition is due, a page changes, or it is set back", async () => {
    await using site = await createMaintenanceSite({ isClockRunning: true });
    await site.plan({ remind_minutes_before: null });
    await site.clock.advance(SECOND_MS);
    using statements = spyOn(site.app.ctx.db.statements, "prepared");
    const reads = async (ms: number) => {
      statements.mockClear();
      await site.clock.advance(ms);
      return statements.mock.calls.length;
    };
    expect(await reads(10 * SECOND_MS)).toBe(0);
    site.app.ctx.signals.pageChanged.emit(site.page.id);
    expect(await reads(SECOND_MS)).toBeGreaterThan(0);
    site.clock.setWallClock(site.clock.now() - HOUR_MS);
    expect(await reads(SECOND_MS)).toBeGreaterThan(0);
    expect(await reads(10 * SECOND_MS)).toBe(0);
  });

  test("the clock completes a maintenance that is in verification", async () => {
    await using site = await createMaintenanceSite({ isClockRunning: true });
    const id = await site.plan();
    await site.skip(2.5 * HOUR_MS);
    await site.update(id, { status: "verifying", body: "We are checking." });
    await site.skip(0.5 * HOUR_MS);
    expect(await site.get(id)).toMatchObject({ status: "completed", completed_at: at("15:00:00") });
  });

  test("the clock does not start or complete a maintenance without auto_start or auto_complete, nor end one started after its window", async () => {
    await using site = await createMaintenanceSite({ isClockRunning: true });
    const manual = await site.plan({ auto_start: false, remind_minutes_before: null });
    const endless = await site.plan({ auto_complete: false, remind_minutes_before: null });
    await site.skip(4 * HOUR_MS);
    expect((await site.get(manual)).status).toBe("scheduled");
    expect((await site.get(endless)).status).toBe("in_progress");
    await site.update(manual, { status: "in_progress", body: "Late, but begun." });
    await site.skip(HOUR_MS);
    expect((await site.get(manual)).status).toBe("in_progress");
  });

  test("the clock completes a maintenance started early at its planned end and leaves a cancelled one unchanged", async () => {
    await using site = await createMaintenanceSite({ isClockRunning: true });
    const early = await site.plan({ remind_minutes_before: null });
    const cancelled = await site.plan({ remind_minutes_before: null });
    await site.update(early, { status: "in_progress", body: "Begun early." });
    await site.cancel(cancelled);
    await site.skip(2.5 * HOUR_MS);
    expect(await site.get(early)).toMatchObject({
      status: "in_progress",
      started_at: at("12:00:00"),
    });
    await site.skip(HOUR_MS);
    expect((await site.get(early)).status).toBe("completed");
    expect((await site.get(cancelled)).status).toBe("cancelled");
  });

  test("the clock starts and completes a backdated maintenance at its planned times", async () => {
    await using site = await createMaintenanceSite({ isClockRunning: true });
    const id = await site.plan({
      scheduled_for: at("08:00:00"),
      scheduled_until: at("09:00:00"),
      notify: false,
    });
    await site.clock.advance(SECOND_MS);
    expect(await site.get(id)).toMatchObject({
      status: "completed",
      started_at: at("08:00:00"),
      completed_at: at("09:00:00"),
      updates: [
        { status: "completed", display_at: at("09:00:00") },
        { status: "in_progress", display_at: at("08:00:00") },
        { status: "scheduled", display_at: at("08:00:00"), created_at: at("12:00:00") },
      ],
    });
    expect(site.causes()).toEqual([{ component: "API", from: at("08:00:00"), to: at("09:00:00") }]);
    // The component never had that status, so no event is recorded.
    expect(
      site.app.events().map(({ type, data }) => [type, data["version"], data["notify"]]),
    ).toEqual([
      ["maintenance.scheduled", 1, false],
      ["maintenance.started", 2, false],
      ["maintenance.completed", 3, false],
    ]);
  });

  test("the clock writes nothing while nothing is due", async () => {
    await using site = await createMaintenanceSite();
    await site.plan({ remind_minutes_before: null });
    const { ctx } = site.app;
    // By then the use of the key is written.
    await site.skip(2 * HOUR_MS - MINUTE_MS);
    const write = ctx.db.write;
    let writes = 0;
    ctx.db.write = (change) => {
      writes += 1;
      return write(change);
    };
    const timer = startMaintenanceClock(ctx);
    await site.clock.advance(MINUTE_MS - SECOND_MS);
    expect(writes).toBe(0);
    await site.clock.advance(2 * SECOND_MS);
    expect(writes).toBe(1);
    timer.cancel();
  });

  test("the clock retries every second while the database fails, and logs that once", async () => {
    await using site = await createMaintenanceSite({ isClockRunning: true });
    const id = await site.plan({ remind_minutes_before: null });
    const { ctx } = site.app;
    await site.skip(2 * HOUR_MS - SECOND_MS);
    const write = ctx.db.write;
    ctx.db.write = () => Promise.reject(new Error("full"));
    await site.clock.advance(10 * SECOND_MS);
    expect((await site.get(id)).status).toBe("scheduled");
    expect(
      site.app.logged.filter(({ msg }) => msg === "maintenance waits for the database"),
    ).toHaveLength(1);
    ctx.db.write = write;
    await site.clock.advance(SECOND_MS);
    expect(await site.get(id)).toMatchObject({
      status: "in_progress",
      started_at: at("14:00:00"),
    });
  });

  test("a stopped clock starts no maintenance", async () => {
    await using site = await createMaintenanceSite();
    const id = await site.plan();
    startMaintenanceClock(site.app.ctx).cancel();
    await site.skip(3 * HOUR_MS);
    expect((await site.get(id)).status).toBe("scheduled");
  });
});

/** Plans several that come due in another order than that of their planning. */
async function planDay(site: Pick<MaintenanceSite, "plan">): Promise<void> {
  const days: [string, string, string][] = [
    ["C", "14:30:00", "17:00:00"],
    ["A", "13:00:00", "15:00:00"],
    ["B", "14:00:00", "14:30:00"],
  ];
  for (const [name, from, until] of days) {
    await site.plan({ name, scheduled_for: at(from), scheduled_until: at(until) });
  }
}

describe("the maintenance clock after a pause", () => {
  test("the clock records all overdue changes at once, in the order of their times", async () => {
    await using site = await createMaintenanceSite();
    await planDay(site);
    await site.skip(4 * HOUR_MS);
    const timer = startMaintenanceClock(site.app.ctx);
    await settle();
    expect(steps(site.app)).toEqual([
      "A started",
      "B started",
      "C started",
      "B completed",
      "A completed",
    ]);
    expect(await site.statusOf("API")).toBe("under_maintenance");
    timer.cancel();
  });

  test("the clock records many overdue changes in batches of 50, in the order of their times", async () => {
    await using site = await createMaintenanceSite();
    const { ctx } = site.app;
    const names = Array.from({ length: 60 }, (_, index) => `M${index}`);
    for (const [index, name] of names.entries()) {
      const from = Date.parse(at("13:00:00")) + ((index * 7) % 60) * MINUTE_MS;
      await site.plan({
        name,
        scheduled_for: new Date(from).toISOString(),
        scheduled_until: new Date(from + 5 * MINUTE_MS).toISOString(),
      });
    }
    await site.skip(4 * HOUR_MS);
    const portions: number[] = [];
    const write = ctx.db.write;
    ctx.db.write = async (change) => {
      const before = steps(site.app).length;
      const answer = await write(change);
      portions.push(steps(site.app).length - before);
      return answer;
    };
    const timer = startMaintenanceClock(ctx);
    for (let turn = 0; turn < 5; turn++) await settle();
    expect(portions).toEqual([50, 50, 20]);
    const events = site.app.events().filter(({ type }) => /started|completed/.test(type));
    const times = events.map(({ type, data }) =>
      Date.parse(String(data[type === "maintenance.started" ? "started_at" : "completed_at"])),
    );
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(new Set(steps(site.app)).size).toBe(120);
    // Where a portion ends between a beginning and its end, too, nothing is shown that is over.
    const types = site.app.events().map(({ type }) => type);
    expect(types).not.toContain("component.status_changed");
    expect(site.causes().filter(({ to }) => to === null)).toEqual([]);
    expect(site.causes()).toHaveLength(60);
    expect(await site.statusOf("API")).toBe("operational");
    timer.cancel();
  });

  test("a restarted server starts an overdue maintenance and completes it at its planned end", async () => {
    using folder = temporaryFolder();
    const databasePath = `${folder.path}/allclear.db`;
    const clock = createTestClock();
    let id = "";
    {
      await using app = await createTestApp({ clock, databasePath });
      const { components } = await app.page({ slug: "acme" }, ["API"]);
      const key = await app.keyWith("write:maintenance");
      const json = { ...PLAN, components: [components["API"]], remind_minutes_before: null };
      id = (await app.call(MAINTENANCE_PATH, { method: "POST", key, json })).body.id;
    }
    await clock.advance(2 * HOUR_MS + 20 * MINUTE_MS);
    await using app = await createTestApp({ clock, databasePath });
    const key = await app.keyWith("read:status");
    const read = async () => (await app.call(`${MAINTENANCE_PATH}/${id}`, { key })).body;
    expect((await read()).status).toBe("scheduled");
    const timer = startMaintenanceClock(app.ctx);
    await settle();
    expect(await read()).toMatchObject({ status: "in_progress", started_at: at("14:00:00") });
    await clock.advance(40 * MINUTE_MS + SECOND_MS);
    expect(await read()).toMatchObject({ status: "completed", completed_at: at("15:00:00") });
    expect(steps(app)).toEqual(["Database upgrade started", "Database upgrade completed"]);
    timer.cancel();
  });
});
