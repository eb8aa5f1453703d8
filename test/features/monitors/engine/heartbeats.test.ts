import { describe, expect, test } from "bun:test";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../../src/base/time";
import { addMonitor } from "../../../support/monitor-store";
import { openEngineSite, type EngineSite } from "../../../support/engine-site";
import { updateMonitor } from "../../../support/examined";

const OK = { outcome: "ok", latencyMs: null, message: null } as const;

async function openJob(input = {}, env: Record<string, string> = {}) {
  const site = await openEngineSite({ env });
  const { id } = await site.monitor({
    name: "backup",
    type: "push",
    config: { grace_seconds: 30 },
    interval_seconds: 600,
    failure_threshold: 1,
    ...input,
  });
  await site.clock.advance(SECOND_MS);
  return { site, id };
}

/** Returns the start of a span of a timeline, in seconds since the start of the test. */
function beginOf(span = ""): number {
  return Number(span.split(" ")[1]);
}

async function beatFor(site: EngineSite, id: string, minutes: number): Promise<void> {
  for (let passed = 0; passed < minutes; passed += 10) {
    await site.engine.heartbeat(id, OK);
    await site.clock.advance(10 * MINUTE_MS);
  }
}

describe("push monitors", () => {
  test("a heartbeat of a new job counts while thousands of other monitors wait to be read", async () => {
    const { site } = await openJob();
    await using _ = site;
    const { ctx } = site.app;
    const config = { grace_seconds: 30 };
    const job = { name: "another", type: "push", config, interval_seconds: 600 } as const;
    const row = await site.monitor({ ...job, failure_threshold: 1 });
    await ctx.db.write((tx) => {
      for (let count = 0; count < 2_000; count++) {
        const name = `Website ${count}`;
        addMonitor(ctx, tx, { name, componentIds: [], createdAt: ctx.clock.now() });
      }
      ctx.signals.monitorsChanged.raise(tx);
    });
    const before = site.engine.figures().monitors;
    await site.engine.heartbeat(row.id, OK);
    expect(site.state(row.id)).toBe("up");
    expect(site.engine.figures().monitors).toBeLessThanOrEqual(before + 500);
    await site.clock.advance(5 * SECOND_MS);
    expect(site.engine.figures().monitors).toBe(2_002);
  });

  test("a push monitor is up after its first heartbeat, which is stored as a result", async () => {
    const { site, id } = await openJob();
    await using _ = site;
    expect(site.state(id)).toBe("pending");
    await site.engine.heartbeat(id, { ...OK, latencyMs: 1_234.6, message: "12 files" });
    expect(site.state(id)).toBe("up");
    expect(site.checks(id)).toMatchObject([
      { outcome: "ok", latencyMs: 1_235, message: "12 files" },
    ]);
    expect(site.checkCount()).toBe(0);
  });

  test("a push monitor stays up while heartbeats arrive in time", async () => {
    const { site, id } = await openJob();
    await using _ = site;
    await beatFor(site, id, 120);
    expect(site.state(id)).toBe("up");
    expect(site.checks(id).every(({ outcome }) => outcome === "ok")).toBe(true);
  });

  test("a push monitor is down without a heartbeat within its interval and grace period", async () => {
    const { site, id } = await openJob();
    await using _ = site;
    await site.engine.heartbeat(id, OK);
    const last = site.clock.now();
    await site.clock.advance(10 * MINUTE_MS + 29 * SECOND_MS);
    expect(site.state(id)).toBe("up");
    await site.clock.advance(2 * SECOND_MS);
    expect(site.state(id)).toBe("down");
    expect(site.checks(id).at(-1)).toMatchObject({
      at: last + 630 * SECOND_MS,
      message: "No heartbeat arrived in time.",
    });
    await site.engine.heartbeat(id, OK);
    expect(site.state(id)).toBe("up");
    expect(site.eventTypes()).toEqual(["monitor.down", "monitor.up"]);
  });

  test("a push monitor stays up if a heartbeat arrives during the connectivity check", async () => {
    const targets = { ALLCLEAR_REFERENCE_TARGETS: "192.0.2.1:443" };
    const { site, id } = await openJob({}, targets);
    await using _ = site;
    await site.engine.heartbeat(id, OK);
    const asking = Promise.withResolvers<void>();
    site.reaching = asking.promise;
    await site.clock.advance(10 * MINUTE_MS + 31 * SECOND_MS);
    expect(site.engine.figures().underWay).toBe(1);
    await site.engine.heartbeat(id, OK);
    asking.resolve();
    await site.clock.advance(10 * MINUTE_MS + 25 * SECOND_MS);
    expect(site.state(id)).toBe("up");
    expect(site.checks(id).map(({ outcome }) => outcome)).toEqual(["ok", "ok"]);
    await site.clock.advance(10 * SECOND_MS);
    expect(site.state(id)).toBe("down");
  });

  test("a push monitor is down if it never receives a heartbeat", async () => {
    const { site, id } = await openJob();
    await using _ = site;
    await site.clock.advance(10 * MINUTE_MS + 30 * SECOND_MS);
    expect(site.state(id)).toBe("down");
  });

  test("a push monitor is down after as many missing heartbeats as its threshold", async () => {
    const { site, id } = await openJob({ failure_threshold: 3, retry_interval_seconds: 10 });
    await using _ = site;
    await site.engine.heartbeat(id, OK);
    await site.clock.advance(30 * MINUTE_MS + 29 * SECOND_MS);
    expect(site.state(id)).toBe("up");
    await site.clock.advance(2 * SECOND_MS);
    expect(site.state(id)).toBe("down");
    expect(site.checks(id).map(({ outcome }) => outcome)).toEqual([
      "ok",
      ...Array(3).fill("failed"),
    ]);
    expect(beginOf(site.timeline(id).at(-1))).toBeCloseTo(631, 0);
  });

  test("a push monitor is down after a heartbeat that reports a failure", async () => {
    const { site, id } = await openJob();
    await using _ = site;
    await site.engine.heartbeat(id, { outcome: "failed", latencyMs: null, message: "disk full" });
    expect(site.state(id)).toBe("down");
    expect(site.checks(id)[0]?.message).toBe("disk full");
  });

  test("a paused or unknown push monitor drops heartbeats", async () => {
    const { site, id } = await openJob({ paused: true });
    await using _ = site;
    await site.engine.heartbeat(id, OK);
    await site.engine.heartbeat("mon_00000000000000000000000000", OK);
    expect(site.checks(id)).toEqual([]);
    expect(site.state(id)).toBe("paused");
  });

  test("a push monitor does not count a heartbeat missed while the server was stopped", async () => {
    const { site, id } = await openJob();
    await using _ = site;
    await site.engine.heartbeat(id, OK);
    await site.clock.advance(9 * MINUTE_MS + 50 * SECOND_MS);
    await site.stop();
    // The job calls into the void.
    await site.clock.advance(20 * SECOND_MS);
    await site.start();
    await site.clock.advance(9 * MINUTE_MS);
    expect(site.state(id)).toBe("up");
    await site.clock.advance(2 * MINUTE_MS);
    expect(site.state(id)).toBe("down");
  });

  test.each(["a change of its name", "a restart"])(
    "a push monitor that is due keeps its deadline through %s within its grace period",
    async (what) => {
      const { site, id } = await openJob({ config: { grace_seconds: 300 } });
      await using _ = site;
      await site.engine.heartbeat(id, OK);
      await site.clock.advance(12 * MINUTE_MS);
      if (what === "a restart") {
        await site.stop();
        await site.clock.advance(10 * SECOND_MS);
        await site.start();
      } else {
        const { ctx } = site.app;
        await ctx.db.write((tx) => updateMonitor(ctx, tx, id, { name: "other" }, CLI_ACTOR));
        await site.clock.advance(10 * SECOND_MS);
      }
      await site.clock.advance(2 * MINUTE_MS + 45 * SECOND_MS);
      expect(site.state(id)).toBe("up");
      await site.clock.advance(10 * SECOND_MS);
      expect(site.state(id)).toBe("down");
    },
  );

  test("a missing heartbeat is detected despite restarts within the interval", async () => {
    const { site, id } = await openJob({ interval_seconds: 86_400 });
    await using _ = site;
    await site.engine.heartbeat(id, OK);
    for (let hours = 0; hours < 24; hours += 4) {
      await site.clock.advance(4 * HOUR_MS - 2 * MINUTE_MS);
      await site.stop();
      await site.clock.advance(MINUTE_MS);
      await site.start();
    }
    expect(site.state(id)).toBe("no_data");
    await site.clock.advance(6 * MINUTE_MS + 40 * SECOND_MS);
    expect(site.state(id)).toBe("down");
  });
});

describe("push monitors without a deadline", () => {
  test("a push monitor without a deadline is never late, and reports change its state", async () => {
    const { site, id } = await openJob({ interval_seconds: null });
    await using _ = site;
    await site.clock.advance(HOUR_MS);
    expect(site.state(id)).toBe("pending");
    await site.engine.heartbeat(id, OK);
    await site.clock.advance(24 * HOUR_MS);
    expect(site.state(id)).toBe("up");
    await site.engine.heartbeat(id, { ...OK, outcome: "failed", message: "Disk full" });
    await site.clock.advance(24 * HOUR_MS);
    expect(site.state(id)).toBe("down");
    expect(site.checks(id).map(({ outcome }) => outcome)).toEqual(["ok", "failed"]);
  });

  test("a deadline that is removed no longer makes a push monitor fail", async () => {
    const { site, id } = await openJob();
    await using _ = site;
    await site.engine.heartbeat(id, OK);
    const { ctx } = site.app;
    await ctx.db.write((tx) => updateMonitor(ctx, tx, id, { interval_seconds: null }, CLI_ACTOR));
    await site.clock.advance(HOUR_MS);
    expect(site.state(id)).toBe("up");
  });

  test("a push monitor with an interval of a year is not late before its end", async () => {
    const { site, id } = await openJob({ interval_seconds: 31_536_000 });
    await using _ = site;
    await site.engine.heartbeat(id, OK);
    await site.clock.advance(2 * HOUR_MS);
    expect(site.state(id)).toBe("up");
    expect(site.checks(id)).toHaveLength(1);
  });
});
