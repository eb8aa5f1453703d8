import { describe, expect, test } from "bun:test";
import { pauseMonitor } from "../../../../src/features/monitors";
import { CLI_ACTOR } from "../../../../src/domain/actor";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../../src/kernel/time";
import { answers, fails, openWatch, type Watch } from "../../../support/engine-site";

/** Within so long it is noticed that the clock has leapt. */
const NOTICED_MS = 15 * SECOND_MS + 100;

/** A page with one component of one monitor, which opens incidents, up since a minute. */
async function openSite(env?: Record<string, string>) {
  const watch = await openWatch(env ? { env } : {});
  const { page, components } = await watch.app.page({}, ["API"]);
  const api = components["API"] ?? "";
  const { id } = await watch.monitor({
    component_ids: [api],
    failure_threshold: 1,
    open_incident: "automatic",
  });
  await watch.clock.advance(MINUTE_MS);
  expect(watch.state(id)).toBe("up");
  return { watch, pageId: page.id, api, id };
}

const states = (watch: Watch, id: string) =>
  watch.timeline(id).map((span) => span.replace(/ .*/, ""));

/** Returns the start and end of a span of the timeline, in ms since the start of the test. */
function times(span: string | undefined): { from: number; to: number } {
  const [from = Number.NaN, to = Number.NaN] = (/ (.*) → ?(.*)/.exec(span ?? "") ?? [])
    .slice(1)
    .map((text) => Math.round(Number(text) * 1000));
  return { from, to };
}

function expectNothingTold(watch: Watch): void {
  expect(watch.told()).toEqual([]);
  expect(watch.app.events().filter(({ type }) => type.startsWith("incident."))).toEqual([]);
}

describe("time in which the server was down", () => {
  test("a killed server leads to no_data from its last activity to the next check, without events", async () => {
    const { watch, pageId, id } = await openSite();
    await using _ = watch;
    const lastAwake = (watch.liveness() ?? 0) - watch.begin;
    watch.kill();
    await watch.clock.advance(HOUR_MS);
    await watch.start();
    await watch.clock.advance(MINUTE_MS);

    const next = watch.checks(id).find(({ at }) => at > watch.begin + HOUR_MS)?.at ?? 0;
    const gap = times(watch.timeline(id).find((span) => span.startsWith("no_data")));
    expect(gap).toEqual({ from: lastAwake, to: next - watch.begin });
    expect(gap.from).toBeGreaterThan(45 * SECOND_MS);
    expect(states(watch, id).slice(-3)).toEqual(["up", "no_data", "up"]);
    expect(watch.noData(pageId)).toEqual([`${gap.from / 1000} → ${gap.to / 1000}`]);
    expectNothingTold(watch);
  });

  test("a stopped server leads to no_data from the time of its stop", async () => {
    const { watch, id } = await openSite();
    await using _ = watch;
    await watch.clock.advance(7 * SECOND_MS);
    await watch.stop();
    const stoppedAt = watch.clock.now() - watch.begin;
    await watch.clock.advance(HOUR_MS);
    await watch.start();
    await watch.clock.advance(MINUTE_MS);
    expect(times(watch.timeline(id).find((span) => span.startsWith("no_data"))).from).toBe(
      stoppedAt,
    );
  });

  test("a stop of less than 45 seconds leads to no no_data", async () => {
    const { watch, pageId, id } = await openSite();
    await using _ = watch;
    await watch.stop();
    await watch.clock.advance(44 * SECOND_MS);
    await watch.start();
    await watch.clock.advance(2 * MINUTE_MS);
    expect(states(watch, id)).not.toContain("no_data");
    expect(watch.noData(pageId)).toEqual([]);
  });

  test("an outage that lasts across a restart is one outage with one event", async () => {
    const { watch, pageId, api, id } = await openSite();
    await using _ = watch;
    watch.let("api.test", fails());
    await watch.clock.advance(2 * MINUTE_MS);
    expect(watch.told()).toEqual(["monitor.down"]);
    const [mark] = watch.marks(pageId);
    watch.kill();
    await watch.clock.advance(HOUR_MS);
    await watch.start();
    expect(watch.status(api)).toBe("major_outage");
    await watch.clock.advance(2 * MINUTE_MS);
    expect(states(watch, id).slice(-3)).toEqual(["down", "no_data", "down"]);
    expect(watch.told()).toEqual(["monitor.down"]);
    expect(watch.marks(pageId)).toEqual([mark ?? ""]);
    watch.let("api.test", answers());
    await watch.clock.advance(2 * MINUTE_MS);
    expect(watch.told()).toEqual(["monitor.down", "monitor.up"]);
    expect(watch.status(api)).toBe("operational");
  });

  test("a paused monitor stays paused after a restart, and its component has data", async () => {
    const { watch } = await openSite();
    await using _ = watch;
    const { page, components } = await watch.app.page({ slug: "b", name: "B" }, ["Idle"]);
    const idle = await watch.monitor({
      name: "idle",
      paused: true,
      component_ids: Object.values(components),
    });
    watch.kill();
    await watch.clock.advance(HOUR_MS);
    await watch.start();
    expect(watch.state(idle.id)).toBe("paused");
    expect(watch.noData(page.id)).toEqual([]);
  });

  test("a monitor paused by a command while the server is down has no_data until then", async () => {
    const { watch, pageId, id } = await openSite();
    await using _ = watch;
    watch.let("api.test", fails());
    await watch.clock.advance(2 * MINUTE_MS);
    const [mark = ""] = watch.marks(pageId);
    const lastAwake = (watch.liveness() ?? 0) - watch.begin;
    watch.kill();
    await watch.clock.advance(HOUR_MS);
    const { ctx } = watch.app;
    await ctx.db.write((tx) => pauseMonitor(ctx, tx, id, CLI_ACTOR));
    const pausedAt = watch.clock.now() - watch.begin;
    await watch.start();
    await watch.clock.advance(MINUTE_MS);
    expect(states(watch, id).slice(-3)).toEqual(["down", "no_data", "paused"]);
    expect(times(watch.timeline(id).at(-2))).toEqual({ from: lastAwake, to: pausedAt });
    expect(watch.noData(pageId)).toEqual([`${lastAwake / 1000} → ${pausedAt / 1000}`]);
    expect(watch.marks(pageId)).toEqual([`${mark} ${pausedAt / 1000}`]);
    expect(watch.told()).toEqual(["monitor.down"]);
  });

  test("a monitor paused while the server runs has no no_data", async () => {
    const { watch, pageId, id } = await openSite();
    await using _ = watch;
    await watch.clock.advance(10 * MINUTE_MS);
    const { ctx } = watch.app;
    await ctx.db.write((tx) => pauseMonitor(ctx, tx, id, CLI_ACTOR));
    expect(states(watch, id)).toEqual(["up", "paused"]);
    expect(watch.noData(pageId)).toEqual([]);
  });

  test("a monitor created while the server was down starts its timeline at its creation", async () => {
    const { watch } = await openSite();
    await using _ = watch;
    await watch.stop();
    await watch.clock.advance(HOUR_MS);
    const { id } = await watch.monitor({ name: "new" });
    const madeAt = watch.clock.now() - watch.begin;
    await watch.start();
    await watch.clock.advance(MINUTE_MS);
    expect(times(watch.timeline(id)[0]).from).toBe(madeAt);
    expect(watch.state(id)).toBe("up");
  });
});

describe("time in which the machine slept", () => {
  test("sleep of the machine leads to no_data, and each monitor is checked within a minute", async () => {
    const { watch, pageId, id } = await openSite();
    await using _ = watch;
    const sleptAt = watch.clock.now();
    watch.clock.setWallClock(sleptAt + 8 * HOUR_MS);
    await watch.clock.advance(NOTICED_MS + MINUTE_MS);
    const gap = times(watch.timeline(id).find((span) => span.startsWith("no_data")));
    expect(gap.from).toBeLessThanOrEqual(sleptAt - watch.begin);
    expect(gap.from).toBeGreaterThan(sleptAt - watch.begin - 15_001);
    expect(gap.to).toBeGreaterThanOrEqual(8 * HOUR_MS);
    expect(watch.noData(pageId)).toHaveLength(1);
    expect(watch.state(id)).toBe("up");
    expectNothingTold(watch);
  });

  test("a check that was running during sleep does not count as failed", async () => {
    const { watch, id } = await openSite();
    await using _ = watch;
    const answer = Promise.withResolvers<void>();
    watch.let("api.test", async () => {
      await answer.promise;
      return { outcome: "failed", latencyMs: null, message: "The connection was reset." };
    });
    while (watch.engine.figures().underWay === 0) await watch.clock.advance(SECOND_MS);
    watch.let("api.test", answers());
    watch.clock.setWallClock(watch.clock.now() + 8 * HOUR_MS);
    answer.resolve();
    await watch.clock.advance(NOTICED_MS + MINUTE_MS);
    expect(watch.checks(id).every(({ outcome }) => outcome === "ok")).toBe(true);
    expectNothingTold(watch);
  });
});

describe("monitoring after the clock was set back", () => {
  test("results and spans stay in order after the clock was set back, and an outage is detected", async () => {
    const { watch, api, id } = await openSite();
    await using _ = watch;
    const before = watch.clock.now();
    const known = watch.checks(id).length;
    watch.clock.setWallClock(before - 2 * HOUR_MS);
    await watch.clock.advance(3 * MINUTE_MS);
    const results = watch.checks(id);
    expect(results.length).toBeGreaterThanOrEqual(known + 3);
    expect(watch.liveness()).toBeGreaterThanOrEqual(before - 15_000);

    watch.let("api.test", fails());
    await watch.clock.advance(2 * MINUTE_MS);
    expect(watch.state(id)).toBe("down");
    expect(watch.status(api)).toBe("major_outage");
    watch.let("api.test", answers());
    await watch.clock.advance(2 * MINUTE_MS);
    expect(watch.state(id)).toBe("up");
    expect(watch.status(api)).toBe("operational");
    expect(watch.told()).toEqual(["monitor.down", "monitor.up"]);
    const incidents = watch.app.events().filter(({ type }) => type.startsWith("incident."));
    expect(incidents.map(({ type }) => type)).toEqual(["incident.created", "incident.resolved"]);
    expect(watch.app.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
    const spans = watch.timeline(id).map(times);
    for (const [index, span] of spans.entries()) {
      const next = spans[index + 1];
      if (next) expect(span.to).toBe(next.from);
      if (next) expect(span.to).toBeGreaterThan(span.from);
    }
    const instants = watch.checks(id).map(({ at }) => at);
    expect(instants).toEqual([...new Set(instants)].sort((a, b) => a - b));
  });

  test("an outage has its real duration although the clock was set back", async () => {
    const { watch, id } = await openSite();
    await using _ = watch;
    watch.let("api.test", fails());
    await watch.clock.advance(3 * MINUTE_MS);
    expect(watch.state(id)).toBe("down");
    watch.clock.setWallClock(watch.clock.now() - 2 * HOUR_MS);
    await watch.clock.advance(20 * MINUTE_MS);
    watch.let("api.test", answers());
    await watch.clock.advance(2 * MINUTE_MS);
    expect(watch.state(id)).toBe("up");
    const outages = watch.app
      .events()
      .filter(({ type }) => type === "monitor.up")
      .map(({ data }) => data["outage"] as { duration_ms: number });
    const durationMs = outages[0]?.duration_ms ?? 0;
    expect(durationMs).toBeGreaterThanOrEqual(22 * MINUTE_MS);
    expect(durationMs).toBeLessThanOrEqual(25 * MINUTE_MS);
    const down = times(watch.timeline(id).find((span) => span.startsWith("down")));
    expect(down.to - down.from).toBe(durationMs);
    // What follows is dated by the wall clock as soon as that has caught up.
    await watch.clock.advance(3 * HOUR_MS);
    expect(watch.checks(id).at(-1)?.at).toBeGreaterThan(watch.clock.now() - 2 * MINUTE_MS);
    expect(watch.checks(id).at(-1)?.at).toBeLessThanOrEqual(watch.clock.now());
  });

  test("no_data covers only new time after the clock was set back and forward", async () => {
    const { watch, id } = await openSite();
    await using _ = watch;
    const before = watch.clock.now();
    watch.clock.setWallClock(before - 30 * 365 * 24 * HOUR_MS);
    await watch.clock.advance(MINUTE_MS);
    watch.clock.setWallClock(before + 2 * HOUR_MS);
    await watch.clock.advance(NOTICED_MS + MINUTE_MS);
    const gap = times(watch.timeline(id).find((span) => span.startsWith("no_data")));
    expect(gap.from).toBeGreaterThan(before - watch.begin - 15_001);
    expect(gap.to).toBeGreaterThanOrEqual(before - watch.begin + 2 * HOUR_MS);
    expect(watch.state(id)).toBe("up");
  });
});

describe("monitoring without a network", () => {
  const env = { ALLCLEAR_REFERENCE_TARGETS: "192.0.2.1:443,192.0.2.2:53" };

  test("failed checks without a network lead to no_data, without events", async () => {
    const { watch, pageId, api, id } = await openSite(env);
    await using _ = watch;
    watch.isOnline = false;
    watch.let("api.test", fails());
    await watch.clock.advance(5 * MINUTE_MS);
    expect(watch.state(id)).toBe("no_data");
    expect(watch.status(api)).toBe("operational");
    expect(watch.checks(id).at(-1)).toMatchObject({
      outcome: "unknown",
      message: "This server had no network connection.",
    });
    watch.isOnline = true;
    watch.let("api.test", answers());
    await watch.clock.advance(2 * MINUTE_MS);
    expect(states(watch, id).slice(-3)).toEqual(["up", "no_data", "up"]);
    const gap = times(watch.timeline(id).find((span) => span.startsWith("no_data")));
    expect(watch.noData(pageId)).toEqual([`${gap.from / 1000} → ${gap.to / 1000}`]);
    expectNothingTold(watch);
  });

  test("a component with data from another monitor has no no_data", async () => {
    const { watch, pageId, api, id } = await openSite(env);
    await using _ = watch;
    await watch.monitor({ name: "local", component_ids: [api] });
    watch.isOnline = false;
    watch.let("api.test", fails());
    await watch.clock.advance(3 * MINUTE_MS);
    expect(watch.state(id)).toBe("no_data");
    expect(watch.noData(pageId)).toEqual([]);
  });

  test("a failed check counts if a reference target answers", async () => {
    const { watch, id } = await openSite(env);
    await using _ = watch;
    watch.let("api.test", fails());
    await watch.clock.advance(2 * MINUTE_MS);
    expect(watch.state(id)).toBe("down");
  });
});
