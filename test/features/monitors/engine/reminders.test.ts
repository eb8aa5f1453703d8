import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { HOUR_MS, MINUTE_MS, SECOND_MS, toIso } from "../../../../src/base/time";
import { advanceMaintenance } from "../../../../src/features/maintenance/clock";
import { composed } from "../../../../src/base/validation";
import { acknowledgeMonitor, pauseMonitor } from "../../../../src/features/monitors/monitors";
import { answers, type EngineSite, fails, openEngineSite } from "../../../support/engine-site";
import { addMaintenanceUpdate, planMaintenance, updateMonitor } from "../../../support/examined";

const EVERY = 3_600;

/** A monitor with reminders each hour that is down, and the time of its first failed check in unix ms. */
async function openDown(input: object = {}) {
  const site = await openEngineSite();
  const { components } = await site.app.page({}, ["API"]);
  const component = components["API"] ?? "";
  const { id } = await site.monitor({
    component_ids: [component],
    failure_threshold: 1,
    reminder_seconds: EVERY,
    ...input,
  });
  await site.clock.advance(MINUTE_MS);
  site.let("api.test", fails());
  await site.clock.advance(MINUTE_MS + 30 * SECOND_MS);
  expect(site.state(id)).toBe("down");
  const downSince = site.checks(id).find(({ outcome }) => outcome === "failed")?.at ?? 0;
  return { site, id, component, downSince };
}

const reminders = ({ app }: EngineSite) =>
  app.events().filter(({ type }) => type === "monitor.reminder");

describe("reminders of outages", () => {
  test("while a monitor is down, an event with the start and a number is sent at each interval", async () => {
    const { site, id, downSince } = await openDown();
    await using _ = site;
    await site.clock.advance(58 * MINUTE_MS);
    expect(reminders(site)).toEqual([]);
    await site.clock.advance(2 * HOUR_MS + 3 * MINUTE_MS);
    expect(reminders(site).map(({ subjectId, data }) => [subjectId, data["count"]])).toEqual([
      [id, 1],
      [id, 2],
      [id, 3],
    ]);
    expect(reminders(site)[0]).toMatchObject({
      pageId: expect.any(String),
      data: {
        monitor: { id, state: "down", last_check: { outcome: "failed" } },
        down_since: toIso(downSince),
      },
    });
    const [down] = site.app.events().filter(({ type }) => type === "monitor.down");
    const delays = reminders(site).map(({ at }) => (at - (down?.at ?? 0)) / 1_000);
    for (const [index, delay] of delays.entries()) {
      expect(delay).toBeGreaterThanOrEqual(EVERY * (index + 1));
      expect(delay).toBeLessThan(EVERY * (index + 1) + 90);
    }
  });

  test("reminders end with the outage, and the next outage counts from one", async () => {
    const { site } = await openDown();
    await using _ = site;
    await site.clock.advance(HOUR_MS + MINUTE_MS);
    site.let("api.test", answers());
    await site.clock.advance(3 * HOUR_MS);
    expect(reminders(site)).toHaveLength(1);
    site.let("api.test", fails());
    await site.clock.advance(HOUR_MS + 3 * MINUTE_MS);
    expect(reminders(site).map(({ data }) => data["count"])).toEqual([1, 1]);
  });

  test("an acknowledged outage sends no reminders until it recovers, also after a restart and a time without data", async () => {
    const { site, id } = await openDown();
    await using _ = site;
    const { ctx } = site.app;
    await site.clock.advance(HOUR_MS + MINUTE_MS);
    expect(reminders(site)).toHaveLength(1);
    await ctx.db.write((tx) => acknowledgeMonitor(ctx, tx, id, composed({}), CLI_ACTOR));
    await site.clock.advance(2 * HOUR_MS);
    site.kill();
    await site.clock.advance(HOUR_MS);
    await site.start();
    await site.clock.advance(2 * HOUR_MS);
    expect(site.state(id)).toBe("down");
    expect(reminders(site)).toHaveLength(1);
    site.let("api.test", answers());
    await site.clock.advance(3 * MINUTE_MS);
    expect(site.state(id)).toBe("up");
    site.let("api.test", fails());
    await site.clock.advance(HOUR_MS + 3 * MINUTE_MS);
    expect(reminders(site).map(({ data }) => data["count"])).toEqual([1, 1]);
  });

  test("a monitor without reminders sends none", async () => {
    const { site } = await openDown({ reminder_seconds: 0 });
    await using _ = site;
    await site.clock.advance(5 * HOUR_MS);
    expect(reminders(site)).toEqual([]);
  });

  test("a restart neither repeats nor delays a reminder", async () => {
    const { site } = await openDown();
    await using _ = site;
    await site.clock.advance(HOUR_MS + MINUTE_MS);
    expect(reminders(site)).toHaveLength(1);
    for (let restart = 0; restart < 3; restart++) {
      site.kill();
      await site.clock.advance(10 * SECOND_MS);
      await site.start();
      await site.clock.advance(10 * SECOND_MS);
    }
    expect(reminders(site)).toHaveLength(1);
    await site.clock.advance(HOUR_MS);
    expect(reminders(site).map(({ data }) => data["count"])).toEqual([1, 2]);
  });

  test("after hours in which the server was stopped, one reminder is sent once the outage is confirmed", async () => {
    const { site, id } = await openDown({ failure_threshold: 2 });
    await using _ = site;
    await site.clock.advance(10 * MINUTE_MS);
    site.kill();
    await site.clock.advance(10 * HOUR_MS);
    await site.start();
    await site.clock.advance(5 * MINUTE_MS);
    expect(site.state(id)).toBe("down");
    expect(reminders(site).map(({ data }) => data["count"])).toEqual([1]);
  });

  test("a job that reported a failure is reminded of without further calls", async () => {
    await using site = await openEngineSite();
    const { id } = await site.monitor({
      type: "push",
      config: {},
      interval_seconds: null,
      failure_threshold: 1,
      reminder_seconds: 300,
    });
    await site.clock.advance(SECOND_MS);
    await site.engine.heartbeat(id, { outcome: "failed", latencyMs: null, message: "Disk full" });
    await site.clock.advance(11 * MINUTE_MS);
    expect(reminders(site).map(({ data }) => data["count"])).toEqual([1, 2]);
  });

  test("no reminder is sent while a component of the monitor is under maintenance", async () => {
    const { site, id, component } = await openDown();
    await using _ = site;
    const { ctx } = site.app;
    const now = site.clock.now();
    const input = {
      page: "acme",
      name: "Upgrade",
      body: "A moment.",
      components: [component],
      scheduled_for: toIso(now + MINUTE_MS),
      scheduled_until: toIso(now + 5 * HOUR_MS),
    };
    const { id: maintenance } = await ctx.db.write((tx) =>
      planMaintenance(ctx, tx, input, CLI_ACTOR),
    );
    await site.clock.advance(2 * MINUTE_MS);
    await ctx.db.write((tx) => advanceMaintenance(ctx, tx, site.clock.now()));
    await site.clock.advance(3 * HOUR_MS);
    expect(site.state(id)).toBe("maintenance");
    expect(reminders(site)).toEqual([]);
    const done = { status: "completed", body: "Done." } as const;
    await ctx.db.write((tx) => addMaintenanceUpdate(ctx, tx, maintenance, done, CLI_ACTOR));
    await site.clock.advance(3 * MINUTE_MS);
    expect(site.state(id)).toBe("down");
    expect(reminders(site).map(({ data }) => data["count"])).toEqual([1]);
  });

  test("no reminder is sent while the monitor is unreachable or paused", async () => {
    await using site = await openEngineSite();
    const { ctx } = site.app;
    const router = await site.monitor({ name: "router" });
    const { id } = await site.monitor({ reminder_seconds: EVERY, depends_on: [router.id] });
    await site.clock.advance(MINUTE_MS);
    site.let("api.test", fails());
    await site.clock.advance(5 * MINUTE_MS);
    expect(site.state(id)).toBe("down");
    site.let("router.test", fails());
    await site.clock.advance(3 * HOUR_MS);
    expect(site.state(id)).toBe("unreachable");
    expect(reminders(site)).toEqual([]);
    site.let("router.test", answers());
    await site.clock.advance(5 * MINUTE_MS);
    expect(site.state(id)).toBe("down");
    expect(reminders(site)).toHaveLength(1);
    await ctx.db.write((tx) => pauseMonitor(ctx, tx, id, CLI_ACTOR));
    await site.clock.advance(3 * HOUR_MS);
    expect(reminders(site)).toHaveLength(1);
  });

  test("reminders that are turned on during an outage are sent from then on", async () => {
    const { site, id } = await openDown({ reminder_seconds: 0 });
    await using _ = site;
    const { ctx } = site.app;
    await site.clock.advance(3 * HOUR_MS);
    await ctx.db.write((tx) => updateMonitor(ctx, tx, id, { reminder_seconds: EVERY }, CLI_ACTOR));
    await site.clock.advance(2 * MINUTE_MS);
    expect(reminders(site)).toHaveLength(1);
    await site.clock.advance(HOUR_MS);
    expect(reminders(site)).toHaveLength(2);
  });

  test("while changes cannot be stored, reminders do not pile up", async () => {
    const { site } = await openDown();
    await using _ = site;
    await site.clock.advance(30 * MINUTE_MS);
    site.disk = "full";
    await site.clock.advance(2 * HOUR_MS);
    site.disk = "fine";
    await site.clock.advance(2 * MINUTE_MS);
    expect(reminders(site).length).toBeLessThanOrEqual(2);
  });
});
