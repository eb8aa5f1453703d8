import { describe, expect, test } from "bun:test";
import { pauseMonitor, resumeMonitor } from "../../../../src/features/monitors";
import { deleteMonitor, updateMonitor } from "../../../../src/features/monitors/update";
import { CLI_ACTOR } from "../../../../src/domain/actor";
import { MINUTE_MS, SECOND_MS } from "../../../../src/kernel/time";
import { settle } from "../../../support/clock";
import { answers, fails, hangs, openWatch, type Watch } from "../../../support/engine-site";

async function many(watch: Watch, count: number, input = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push((await watch.monitor({ name: `m${i}`, ...input })).id);
  return ids;
}

const pause = (watch: Watch, id: string) =>
  watch.app.ctx.db.write((tx) => pauseMonitor(watch.app.ctx, tx, id, CLI_ACTOR));
const resume = (watch: Watch, id: string) =>
  watch.app.ctx.db.write((tx) => resumeMonitor(watch.app.ctx, tx, id, CLI_ACTOR));

describe("checks after a start", () => {
  test("after a start, first checks of all monitors are spread over one interval", async () => {
    await using watch = await openWatch({ isStarted: false });
    await many(watch, 100);
    await watch.start();
    const counts: number[] = [];
    for (let second = 0; second < 60; second++) {
      await watch.clock.advance(SECOND_MS);
      counts.push(watch.asked());
    }
    expect(counts.at(-1)).toBeGreaterThanOrEqual(100);
    expect(counts[29]).toBeGreaterThan(25);
    expect(counts[29]).toBeLessThan(75);
    for (let i = 0; i < 100; i++) expect(watch.asked(`m${i}.test`)).toBeGreaterThanOrEqual(1);
  });

  test("each monitor is checked once per interval", async () => {
    await using watch = await openWatch({ isStarted: false });
    await many(watch, 20);
    await watch.start();
    await watch.clock.advance(60 * MINUTE_MS);
    for (let i = 0; i < 20; i++) {
      expect(watch.asked(`m${i}.test`)).toBeGreaterThanOrEqual(59);
      expect(watch.asked(`m${i}.test`)).toBeLessThanOrEqual(61);
    }
  });

  test("a heartbeat before the start does not stop other monitors from being checked", async () => {
    await using watch = await openWatch({ isStarted: false });
    await many(watch, 5);
    const job = await watch.monitor({ name: "job", type: "push", config: { grace_seconds: 30 } });
    const heard = watch.engine.heartbeat(job.id, { outcome: "ok", latencyMs: null, message: null });
    watch.engine.start();
    await watch.clock.advance(2 * MINUTE_MS);
    await heard;
    for (let i = 0; i < 5; i++) expect(watch.asked(`m${i}.test`)).toBeGreaterThanOrEqual(1);
    expect(watch.state(job.id)).toBe("down");
  });

  test("an engine without monitors checks and writes nothing", async () => {
    await using watch = await openWatch();
    await watch.clock.advance(5 * MINUTE_MS);
    expect(watch.asked()).toBe(0);
    expect(watch.liveness()).toBeUndefined();
  });
});

describe("checks while the engine runs", () => {
  test("a new monitor is checked at once", async () => {
    await using watch = await openWatch();
    await watch.clock.advance(SECOND_MS);
    const { id } = await watch.monitor({ interval_seconds: 3_600 });
    await watch.clock.advance(SECOND_MS);
    expect(watch.asked("api.test")).toBe(1);
    expect(watch.state(id)).toBe("up");
  });

  test("a changed monitor is checked at once with its new configuration", async () => {
    await using watch = await openWatch();
    const { id } = await watch.monitor({ interval_seconds: 3_600 });
    await watch.clock.advance(SECOND_MS);
    const { ctx } = watch.app;
    const config = { url: "https://other.test/" };
    await ctx.db.write((tx) => updateMonitor(ctx, tx, id, { config }, CLI_ACTOR));
    await watch.clock.advance(SECOND_MS);
    expect(watch.asked("other.test")).toBe(1);
    expect(watch.asked("api.test")).toBe(1);
  });

  test("a deleted monitor is not checked", async () => {
    await using watch = await openWatch();
    const { id } = await watch.monitor();
    await watch.clock.advance(MINUTE_MS);
    const { ctx } = watch.app;
    await ctx.db.write((tx) => deleteMonitor(ctx, tx, id, CLI_ACTOR));
    const before = watch.asked();
    expect(before).toBeGreaterThan(0);
    await watch.clock.advance(5 * MINUTE_MS);
    expect(watch.asked()).toBe(before);
  });

  test("a paused monitor is not checked, and a resumed one is checked at once without earlier failures", async () => {
    await using watch = await openWatch();
    const { id } = await watch.monitor({ failure_threshold: 2, retry_interval_seconds: 60 });
    await watch.clock.advance(SECOND_MS);
    watch.let("api.test", fails());
    await watch.clock.advance(61 * SECOND_MS);
    await pause(watch, id);
    const before = watch.asked();
    await watch.clock.advance(10 * MINUTE_MS);
    expect(watch.asked()).toBe(before);
    expect(watch.state(id)).toBe("paused");

    await resume(watch, id);
    await watch.clock.advance(SECOND_MS);
    expect(watch.asked()).toBe(before + 1);
    // The failure before the pause counts no more.
    expect(watch.state(id)).toBe("pending");
  });

  test("the result of a check is dropped if its monitor was paused meanwhile", async () => {
    await using watch = await openWatch();
    const { id } = await watch.monitor({ failure_threshold: 1 });
    await watch.clock.advance(SECOND_MS);
    const before = watch.checks(id).length;
    watch.let("api.test", hangs());
    for (let s = 0; s < 61 && watch.engine.figures().underWay === 0; s++) {
      await watch.clock.advance(SECOND_MS);
    }
    expect(watch.engine.figures().underWay).toBe(1);
    await pause(watch, id);
    await watch.clock.advance(MINUTE_MS);
    expect(watch.engine.figures().underWay).toBe(0);
    expect(watch.checks(id)).toHaveLength(before);
    expect(watch.state(id)).toBe("paused");
  });

  test("at most 256 checks run at once, and the others follow", async () => {
    await using watch = await openWatch({ isStarted: false });
    const release = Promise.withResolvers<void>();
    const order: number[] = [];
    const ids = await many(watch, 300, { interval_seconds: 5 });
    for (const i of ids.keys()) {
      watch.let(`m${i}.test`, async () => {
        order.push(i);
        await release.promise;
        return { outcome: "ok", latencyMs: 1, message: null };
      });
    }
    await watch.start();
    await watch.clock.advance(5 * SECOND_MS);
    expect(watch.engine.figures().underWay).toBe(256);
    expect(watch.asked()).toBe(256);
    release.resolve();
    await settle();
    await watch.clock.advance(100);
    expect(new Set(order).size).toBe(300);
    expect(watch.engine.figures().underWay).toBe(0);
  });

  test("hanging targets do not delay checks of other targets", async () => {
    await using watch = await openWatch({ isStarted: false });
    const hanging = await many(watch, 300, { interval_seconds: 5, timeout_ms: 60_000 });
    for (const i of hanging.keys()) watch.let(`m${i}.test`, hangs());
    await watch.start();
    await watch.clock.advance(2 * MINUTE_MS);
    const quick = await watch.monitor({ name: "quick", interval_seconds: 5 });
    await watch.clock.advance(MINUTE_MS);
    expect(watch.checks(quick.id).length).toBeGreaterThanOrEqual(11);
    expect(watch.engine.figures().underWay).toBeGreaterThan(150);
    expect(watch.engine.figures().underWay).toBeLessThanOrEqual(192);
    for (let minute = 0; minute < 5; minute++) await watch.clock.advance(MINUTE_MS);
    // None of those that hang is forgotten either.
    for (const id of hanging) expect(watch.checks(id).length).toBeGreaterThanOrEqual(2);
  });

  test("hanging targets that were down before a restart do not delay other checks after it", async () => {
    await using watch = await openWatch({ isStarted: false });
    const input = { interval_seconds: 5, timeout_ms: 60_000, failure_threshold: 1 };
    const hanging = await many(watch, 300, input);
    for (const i of hanging.keys()) watch.let(`m${i}.test`, fails());
    const quick = await watch.monitor({ name: "quick", interval_seconds: 5 });
    await watch.start();
    await watch.clock.advance(10 * SECOND_MS);
    expect(hanging.every((id) => watch.state(id) === "down")).toBe(true);
    watch.kill();
    for (const i of hanging.keys()) watch.let(`m${i}.test`, hangs());
    await watch.clock.advance(SECOND_MS);
    const before = watch.checks(quick.id).length;
    await watch.start();
    await watch.clock.advance(30 * SECOND_MS);
    expect(watch.checks(quick.id).length).toBeGreaterThanOrEqual(before + 5);
  });

  test("a target that never answers fails at the timeout and does not delay other checks", async () => {
    await using watch = await openWatch();
    const slow = await watch.monitor({ name: "slow", failure_threshold: 1, timeout_ms: 3_000 });
    const quick = await watch.monitor({ name: "quick" });
    watch.let("slow.test", hangs());
    await watch.clock.advance(2 * SECOND_MS);
    expect(watch.state(quick.id)).toBe("up");
    expect(watch.state(slow.id)).toBe("pending");
    await watch.clock.advance(2 * SECOND_MS);
    expect(watch.state(slow.id)).toBe("down");
    expect(watch.checks(slow.id)[0]?.message).toBe("Timed out connecting.");
  });

  test("a probe that ignores its deadline fails with a timeout", async () => {
    await using watch = await openWatch();
    const { id } = await watch.monitor({ failure_threshold: 1, timeout_ms: 3_000 });
    watch.let("api.test", () => new Promise(() => {}));
    await watch.clock.advance(5 * SECOND_MS);
    expect(watch.engine.figures().underWay).toBe(0);
    expect(watch.checks(id)[0]).toMatchObject({ outcome: "failed", message: "Timed out." });
  });

  test("a probe that throws leads to no_data and a log entry", async () => {
    await using watch = await openWatch();
    const { id } = await watch.monitor({ failure_threshold: 1 });
    watch.let("api.test", () => {
      throw new Error("a defect");
    });
    await watch.clock.advance(2 * SECOND_MS);
    expect(watch.state(id)).toBe("no_data");
    expect(
      watch.app.logged.some(({ msg }) => msg === "a check failed because of an internal error"),
    ).toBe(true);
  });
});

describe("checks on demand", () => {
  test("a check on demand runs at once and is stored before it is answered", async () => {
    await using watch = await openWatch();
    const { id } = await watch.monitor({ interval_seconds: 3_600 });
    await watch.clock.advance(SECOND_MS);
    watch.let("api.test", answers(77));
    await watch.clock.advance(SECOND_MS);
    const row = await watch.engine.checkNow(id);
    expect(row).toMatchObject({ outcome: "ok", latencyMs: 77, at: watch.clock.now() });
    expect(watch.checks(id).at(-1)).toEqual(row);
  });

  test("a check on demand counts towards the failure threshold", async () => {
    await using watch = await openWatch();
    const { id } = await watch.monitor({ failure_threshold: 2, interval_seconds: 3_600 });
    await watch.clock.advance(SECOND_MS);
    watch.let("api.test", fails());
    await watch.engine.checkNow(id);
    expect(watch.state(id)).toBe("up");
    await watch.clock.advance(1);
    await watch.engine.checkNow(id);
    expect(watch.state(id)).toBe("down");
  });

  test("a check on demand joins a running check of the monitor", async () => {
    await using watch = await openWatch();
    const { id } = await watch.monitor();
    const answer = Promise.withResolvers<void>();
    watch.let("api.test", async () => {
      await answer.promise;
      return { outcome: "ok", latencyMs: 5, message: null };
    });
    const both = Promise.all([watch.engine.checkNow(id), watch.engine.checkNow(id)]);
    await settle();
    answer.resolve();
    const [a, b] = await both;
    expect(a).toEqual(b);
    expect(watch.asked()).toBe(1);
  });

  test("a check on demand is rejected for unknown, paused and push monitors", async () => {
    await using watch = await openWatch();
    const paused = await watch.monitor({ name: "paused", paused: true });
    const push = await watch.monitor({ name: "push", type: "push", config: {} });
    const refused = (id: string) => watch.engine.checkNow(id).catch((error) => error.code);
    expect(await refused("mon_00000000000000000000000000")).toBe("not_found");
    expect(await refused(paused.id)).toBe("conflict");
    expect(await refused(push.id)).toBe("conflict");
    expect(watch.asked()).toBe(0);
  });
});

test("stopping the engine ends running checks without a result and writes finished results", async () => {
  await using watch = await openWatch();
  const quick = await watch.monitor({ name: "quick" });
  const slow = await watch.monitor({ name: "slow", failure_threshold: 1 });
  watch.let("slow.test", hangs());
  await watch.clock.advance(SECOND_MS);
  await watch.engine.checkNow(quick.id);
  watch.let("quick.test", answers(99));
  const asked = watch.engine.checkNow(slow.id).catch((error) => error.code);
  await watch.stop();
  expect(await asked).toBe("unavailable");
  expect(watch.checks(slow.id)).toEqual([]);
  expect(watch.checks(quick.id).length).toBeGreaterThan(0);
  const before = watch.asked();
  await watch.clock.advance(10 * MINUTE_MS);
  expect(watch.asked()).toBe(before);
});
