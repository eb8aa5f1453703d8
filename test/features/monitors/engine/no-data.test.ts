import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { HOUR_MS, MINUTE_MS, SECOND_MS, toIso } from "../../../../src/base/time";
import { advanceMaintenance } from "../../../../src/features/maintenance/clock";
import { pauseUnwatching } from "../../../../src/features/monitors/engine/transitions";
import { pauseMonitor, resumeMonitor } from "../../../../src/features/monitors/monitors";
import { answers, type EngineSite, fails, openEngineSite } from "../../../support/engine-site";
import { addMaintenanceUpdate, planMaintenance } from "../../../support/examined";

/** Within so long it is noticed that the clock has leapt. */
const NOTICED_MS = 15 * SECOND_MS + 100;

/** A page with one component of one monitor, which opens incidents, up since a minute. */
async function openSite(env?: Record<string, string>) {
  const site = await openEngineSite(env ? { env } : {});
  const { page, components } = await site.app.page({}, ["API"]);
  const api = components["API"] ?? "";
  const { id } = await site.monitor({
    component_ids: [api],
    failure_threshold: 1,
    open_incident: "automatic",
  });
  await site.clock.advance(MINUTE_MS);
  expect(site.state(id)).toBe("up");
  return { site, pageId: page.id, api, id };
}

const states = (site: EngineSite, id: string) =>
  site.timeline(id).map((span) => span.replace(/ .*/, ""));

/** Returns the start and end of a span of the timeline, in ms since the start of the test. */
function times(span: string | undefined): { from: number; to: number } {
  const [from = Number.NaN, to = Number.NaN] = (/ (.*) → ?(.*)/.exec(span ?? "") ?? [])
    .slice(1)
    .map((text) => Math.round(Number(text) * 1000));
  return { from, to };
}

function expectNoEvents(site: EngineSite): void {
  expect(site.eventTypes()).toEqual([]);
  expect(site.app.events().filter(({ type }) => type.startsWith("incident."))).toEqual([]);
}

describe("time in which the server was down", () => {
  test("a killed server leads to no_data from its last activity to the next check, without events", async () => {
    const { site, pageId, id } = await openSite();
    await using _ = site;
    const lastAwake = (site.liveness() ?? 0) - site.begin;
    site.kill();
    await site.clock.advance(HOUR_MS);
    await site.start();
    await site.clock.advance(MINUTE_MS);

    const next = site.checks(id).find(({ at }) => at > site.begin + HOUR_MS)?.at ?? 0;
    const gap = times(site.timeline(id).find((span) => span.startsWith("no_data")));
    expect(gap).toEqual({ from: lastAwake, to: next - site.begin });
    expect(gap.from).toBeGreaterThan(45 * SECOND_MS);
    expect(states(site, id).slice(-3)).toEqual(["up", "no_data", "up"]);
    expect(site.noData(pageId)).toEqual([`${gap.from / 1000} → ${gap.to / 1000}`]);
    expectNoEvents(site);
  });

  test("a stopped server leads to no_data from the time of its stop", async () => {
    const { site, id } = await openSite();
    await using _ = site;
    await site.clock.advance(7 * SECOND_MS);
    await site.stop();
    const stoppedAt = site.clock.now() - site.begin;
    await site.clock.advance(HOUR_MS);
    await site.start();
    await site.clock.advance(MINUTE_MS);
    expect(times(site.timeline(id).find((span) => span.startsWith("no_data"))).from).toBe(
      stoppedAt,
    );
  });

  test("a stop of less than 45 seconds leads to no no_data", async () => {
    const { site, pageId, id } = await openSite();
    await using _ = site;
    await site.stop();
    await site.clock.advance(44 * SECOND_MS);
    await site.start();
    await site.clock.advance(2 * MINUTE_MS);
    expect(states(site, id)).not.toContain("no_data");
    expect(site.noData(pageId)).toEqual([]);
  });

  test("an outage that lasts across a restart is one outage with one event", async () => {
    const { site, pageId, api, id } = await openSite();
    await using _ = site;
    site.let("api.test", fails());
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.eventTypes()).toEqual(["monitor.down"]);
    const [cause] = site.causes(pageId);
    site.kill();
    await site.clock.advance(HOUR_MS);
    await site.start();
    expect(site.status(api)).toBe("major_outage");
    await site.clock.advance(2 * MINUTE_MS);
    expect(states(site, id).slice(-3)).toEqual(["down", "no_data", "down"]);
    expect(site.eventTypes()).toEqual(["monitor.down"]);
    expect(site.causes(pageId)).toEqual([cause ?? ""]);
    site.let("api.test", answers());
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.eventTypes()).toEqual(["monitor.down", "monitor.up"]);
    expect(site.status(api)).toBe("operational");
  });

  test("a paused monitor stays paused after a restart, and its component has data", async () => {
    const { site } = await openSite();
    await using _ = site;
    const { page, components } = await site.app.page({ slug: "b", name: "B" }, ["Idle"]);
    const idle = await site.monitor({
      name: "idle",
      paused: true,
      component_ids: Object.values(components),
    });
    site.kill();
    await site.clock.advance(HOUR_MS);
    await site.start();
    expect(site.state(idle.id)).toBe("paused");
    expect(site.noData(page.id)).toEqual([]);
  });

  test("a monitor paused by a command while the server is down has no_data until then", async () => {
    const { site, pageId, id } = await openSite();
    await using _ = site;
    site.let("api.test", fails());
    await site.clock.advance(2 * MINUTE_MS);
    const [cause = ""] = site.causes(pageId);
    const lastAwake = (site.liveness() ?? 0) - site.begin;
    site.kill();
    await site.clock.advance(HOUR_MS);
    const { ctx } = site.app;
    await ctx.db.write((tx) => pauseMonitor(ctx, tx, id, CLI_ACTOR));
    const pausedAt = site.clock.now() - site.begin;
    await site.start();
    await site.clock.advance(MINUTE_MS);
    expect(states(site, id).slice(-3)).toEqual(["down", "no_data", "paused"]);
    expect(times(site.timeline(id).at(-2))).toEqual({ from: lastAwake, to: pausedAt });
    expect(site.noData(pageId)).toEqual([`${lastAwake / 1000} → ${pausedAt / 1000}`]);
    expect(site.causes(pageId)).toEqual([`${cause} ${pausedAt / 1000}`]);
    expect(site.eventTypes()).toEqual(["monitor.down"]);
  });

  test("a push monitor without a deadline that is paused while the server is down has no no_data", async () => {
    await using site = await openEngineSite();
    const { ctx } = site.app;
    const { page, components } = await site.app.page({}, ["Backups"]);
    const job = { type: "push", config: {}, interval_seconds: null } as const;
    const one = await site.monitor({
      ...job,
      name: "one",
      component_ids: Object.values(components),
    });
    const other = await site.monitor({ ...job, name: "other" });
    for (const { id } of [one, other]) {
      await site.engine.heartbeat(id, { outcome: "ok", latencyMs: null, message: null });
    }
    await site.clock.advance(MINUTE_MS);
    site.kill();
    await site.clock.advance(HOUR_MS);
    await ctx.db.write((tx) => {
      pauseMonitor(ctx, tx, one.id, CLI_ACTOR);
      pauseUnwatching(tx, [other], ctx.clock.now());
    });
    for (const { id } of [one, other]) {
      expect(states(site, id).slice(-2)).toEqual(["up", "paused"]);
    }
    expect(site.noData(page.id)).toEqual([]);
  });

  test("a push monitor with a schedule that is paused while the server is down has no_data", async () => {
    await using site = await openEngineSite();
    const { ctx } = site.app;
    const { id } = await site.monitor({
      type: "push",
      name: "Backup",
      config: { schedule: "0 3 * * *" },
    });
    await site.engine.heartbeat(id, { outcome: "ok", latencyMs: null, message: null });
    await site.clock.advance(MINUTE_MS);
    site.kill();
    await site.clock.advance(HOUR_MS);
    await ctx.db.write((tx) => pauseMonitor(ctx, tx, id, CLI_ACTOR));
    expect(states(site, id).slice(-3)).toEqual(["up", "no_data", "paused"]);
  });

  test("a monitor paused while the server runs has no no_data", async () => {
    const { site, pageId, id } = await openSite();
    await using _ = site;
    await site.clock.advance(10 * MINUTE_MS);
    const { ctx } = site.app;
    await ctx.db.write((tx) => pauseMonitor(ctx, tx, id, CLI_ACTOR));
    expect(states(site, id)).toEqual(["up", "paused"]);
    expect(site.noData(pageId)).toEqual([]);
  });

  test("a monitor created while the server was down starts its timeline at its creation", async () => {
    const { site } = await openSite();
    await using _ = site;
    await site.stop();
    await site.clock.advance(HOUR_MS);
    const { id } = await site.monitor({ name: "new" });
    const madeAt = site.clock.now() - site.begin;
    await site.start();
    await site.clock.advance(MINUTE_MS);
    expect(times(site.timeline(id)[0]).from).toBe(madeAt);
    expect(site.state(id)).toBe("up");
  });
});

describe("time in which the machine slept", () => {
  test("sleep of the machine leads to no_data, and each monitor is checked within a minute", async () => {
    const { site, pageId, id } = await openSite();
    await using _ = site;
    const sleptAt = site.clock.now();
    site.clock.setWallClock(sleptAt + 8 * HOUR_MS);
    await site.clock.advance(NOTICED_MS + MINUTE_MS);
    const gap = times(site.timeline(id).find((span) => span.startsWith("no_data")));
    expect(gap.from).toBeLessThanOrEqual(sleptAt - site.begin);
    expect(gap.from).toBeGreaterThan(sleptAt - site.begin - 15_001);
    expect(gap.to).toBeGreaterThanOrEqual(8 * HOUR_MS);
    expect(site.noData(pageId)).toHaveLength(1);
    expect(site.state(id)).toBe("up");
    expectNoEvents(site);
  });

  test("a check that was running during sleep does not count as failed", async () => {
    const { site, id } = await openSite();
    await using _ = site;
    const answer = Promise.withResolvers<void>();
    site.let("api.test", async () => {
      await answer.promise;
      return { outcome: "failed", latencyMs: null, message: "The connection was reset." };
    });
    while (site.engine.figures().underWay === 0) await site.clock.advance(SECOND_MS);
    site.let("api.test", answers());
    site.clock.setWallClock(site.clock.now() + 8 * HOUR_MS);
    answer.resolve();
    await site.clock.advance(NOTICED_MS + MINUTE_MS);
    expect(site.checks(id).every(({ outcome }) => outcome === "ok")).toBe(true);
    expectNoEvents(site);
  });
});

describe("monitoring after the clock was set back", () => {
  test("results and spans stay in order after the clock was set back, and an outage is detected", async () => {
    const { site, api, id } = await openSite();
    await using _ = site;
    const before = site.clock.now();
    const known = site.checks(id).length;
    site.clock.setWallClock(before - 2 * HOUR_MS);
    await site.clock.advance(3 * MINUTE_MS);
    const results = site.checks(id);
    expect(results.length).toBeGreaterThanOrEqual(known + 3);
    expect(site.liveness()).toBeGreaterThanOrEqual(before - 15_000);

    site.let("api.test", fails());
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.state(id)).toBe("down");
    expect(site.status(api)).toBe("major_outage");
    site.let("api.test", answers());
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.state(id)).toBe("up");
    expect(site.status(api)).toBe("operational");
    expect(site.eventTypes()).toEqual(["monitor.down", "monitor.up"]);
    const incidents = site.app.events().filter(({ type }) => type.startsWith("incident."));
    expect(incidents.map(({ type }) => type)).toEqual(["incident.created", "incident.resolved"]);
    expect(site.app.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
    const spans = site.timeline(id).map(times);
    for (const [index, span] of spans.entries()) {
      const next = spans[index + 1];
      if (next) expect(span.to).toBe(next.from);
      if (next) expect(span.to).toBeGreaterThan(span.from);
    }
    const instants = site.checks(id).map(({ at }) => at);
    expect(instants).toEqual([...new Set(instants)].sort((a, b) => a - b));
  });

  test("an outage has its real duration although the clock was set back", async () => {
    const { site, id } = await openSite();
    await using _ = site;
    site.let("api.test", fails());
    await site.clock.advance(3 * MINUTE_MS);
    expect(site.state(id)).toBe("down");
    site.clock.setWallClock(site.clock.now() - 2 * HOUR_MS);
    await site.clock.advance(20 * MINUTE_MS);
    site.let("api.test", answers());
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.state(id)).toBe("up");
    const outages = site.app
      .events()
      .filter(({ type }) => type === "monitor.up")
      .map(({ data }) => data["outage"] as { duration_ms: number });
    const durationMs = outages[0]?.duration_ms ?? 0;
    expect(durationMs).toBeGreaterThanOrEqual(22 * MINUTE_MS);
    expect(durationMs).toBeLessThanOrEqual(25 * MINUTE_MS);
    const down = times(site.timeline(id).find((span) => span.startsWith("down")));
    expect(down.to - down.from).toBe(durationMs);
    // What follows is dated by the wall clock as soon as that has caught up.
    await site.clock.advance(3 * HOUR_MS);
    expect(site.checks(id).at(-1)?.at).toBeGreaterThan(site.clock.now() - 2 * MINUTE_MS);
    expect(site.checks(id).at(-1)?.at).toBeLessThanOrEqual(site.clock.now());
  });

  test("a pause after the clock was set back does not hide an outage", async () => {
    const { site, id } = await openSite();
    await using _ = site;
    const { ctx } = site.app;
    const at = site.clock.now();
    site.clock.setWallClock(at - HOUR_MS);
    site.let("api.test", fails());
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.state(id)).toBe("down");
    await ctx.db.write((tx) => pauseMonitor(ctx, tx, id, CLI_ACTOR));
    expect(states(site, id)).toEqual(["up", "down", "paused"]);
    await ctx.db.write((tx) => resumeMonitor(ctx, tx, id, CLI_ACTOR));
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.state(id)).toBe("down");
    expect(site.eventTypes()).toEqual(["monitor.down"]);
  });

  test("maintenance after the clock was set back does not hide an outage", async () => {
    const { site, id, api } = await openSite();
    await using _ = site;
    const { ctx } = site.app;
    site.clock.setWallClock(site.clock.now() - HOUR_MS);
    site.let("api.test", fails());
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.state(id)).toBe("down");
    const now = site.clock.now();
    const input = {
      page: "acme",
      name: "Upgrade",
      body: "A moment.",
      components: [api],
      scheduled_for: toIso(now + SECOND_MS),
      scheduled_until: toIso(now + HOUR_MS),
    };
    const maintenance = await ctx.db.write((tx) => planMaintenance(ctx, tx, input, CLI_ACTOR));
    await site.clock.advance(SECOND_MS);
    await ctx.db.write((tx) => advanceMaintenance(ctx, tx, site.clock.now()));
    await site.clock.advance(SECOND_MS);
    expect(states(site, id)).toEqual(["up", "down", "maintenance"]);
    const done = { status: "completed", body: "Done." } as const;
    await ctx.db.write((tx) => addMaintenanceUpdate(ctx, tx, maintenance.id, done, CLI_ACTOR));
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.state(id)).toBe("down");
    expect(site.eventTypes()).toEqual(["monitor.down"]);
  });

  test("no_data covers only new time after the clock was set back and forward", async () => {
    const { site, id } = await openSite();
    await using _ = site;
    const before = site.clock.now();
    site.clock.setWallClock(before - 30 * 365 * 24 * HOUR_MS);
    await site.clock.advance(MINUTE_MS);
    site.clock.setWallClock(before + 2 * HOUR_MS);
    await site.clock.advance(NOTICED_MS + MINUTE_MS);
    const gap = times(site.timeline(id).find((span) => span.startsWith("no_data")));
    expect(gap.from).toBeGreaterThan(before - site.begin - 15_001);
    expect(gap.to).toBeGreaterThanOrEqual(before - site.begin + 2 * HOUR_MS);
    expect(site.state(id)).toBe("up");
  });
});

describe("monitoring without a network", () => {
  const env = { ALLCLEAR_REFERENCE_TARGETS: "192.0.2.1:443,192.0.2.2:53" };

  test("failed checks without a network lead to no_data, without events", async () => {
    const { site, pageId, api, id } = await openSite(env);
    await using _ = site;
    site.isOnline = false;
    site.let("api.test", fails());
    await site.clock.advance(5 * MINUTE_MS);
    expect(site.state(id)).toBe("no_data");
    expect(site.status(api)).toBe("operational");
    expect(site.checks(id).at(-1)).toMatchObject({
      outcome: "unknown",
      message: "This server had no network connection.",
    });
    site.isOnline = true;
    site.let("api.test", answers());
    await site.clock.advance(2 * MINUTE_MS);
    expect(states(site, id).slice(-3)).toEqual(["up", "no_data", "up"]);
    const gap = times(site.timeline(id).find((span) => span.startsWith("no_data")));
    expect(site.noData(pageId)).toEqual([`${gap.from / 1000} → ${gap.to / 1000}`]);
    expectNoEvents(site);
  });

  test("a component with data from another monitor has no no_data", async () => {
    const { site, pageId, api, id } = await openSite(env);
    await using _ = site;
    await site.monitor({ name: "local", component_ids: [api] });
    site.isOnline = false;
    site.let("api.test", fails());
    await site.clock.advance(3 * MINUTE_MS);
    expect(site.state(id)).toBe("no_data");
    expect(site.noData(pageId)).toEqual([]);
  });

  test("a failed check counts if a reference target answers", async () => {
    const { site, id } = await openSite(env);
    await using _ = site;
    site.let("api.test", fails());
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.state(id)).toBe("down");
  });
});
