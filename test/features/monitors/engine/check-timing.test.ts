import { describe, expect, test } from "bun:test";
import { StepRecorder } from "../../../../src/egress/steps";
import {
  deleteMonitor,
  pauseMonitor,
  resumeMonitor,
} from "../../../../src/features/monitors/monitors";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { MINUTE_MS, SECOND_MS } from "../../../../src/base/time";
import { settle } from "../../../support/clock";
import {
  answers,
  fails,
  hangs,
  openEngineSite,
  type EngineSite,
} from "../../../support/engine-site";
import { updateMonitor } from "../../../support/examined";

async function many(site: EngineSite, count: number, input = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push((await site.monitor({ name: `m${i}`, ...input })).id);
  return ids;
}

const pause = (site: EngineSite, id: string) =>
  site.app.ctx.db.write((tx) => pauseMonitor(site.app.ctx, tx, id, CLI_ACTOR));
const resume = (site: EngineSite, id: string) =>
  site.app.ctx.db.write((tx) => resumeMonitor(site.app.ctx, tx, id, CLI_ACTOR));

describe("checks after a start", () => {
  test("after a start, first checks of all monitors are spread over one interval", async () => {
    await using site = await openEngineSite({ isStarted: false });
    await many(site, 100);
    await site.start();
    const counts: number[] = [];
    for (let second = 0; second < 60; second++) {
      await site.clock.advance(SECOND_MS);
      counts.push(site.checkCount());
    }
    expect(counts.at(-1)).toBeGreaterThanOrEqual(100);
    expect(counts[29]).toBeGreaterThan(25);
    expect(counts[29]).toBeLessThan(75);
    for (let i = 0; i < 100; i++) expect(site.checkCount(`m${i}.test`)).toBeGreaterThanOrEqual(1);
  });

  test("each monitor is checked once per interval", async () => {
    await using site = await openEngineSite({ isStarted: false });
    await many(site, 20);
    await site.start();
    await site.clock.advance(60 * MINUTE_MS);
    for (let i = 0; i < 20; i++) {
      expect(site.checkCount(`m${i}.test`)).toBeGreaterThanOrEqual(59);
      expect(site.checkCount(`m${i}.test`)).toBeLessThanOrEqual(61);
    }
  });

  test("checks due within 50 ms start together, at most 50 ms late", async () => {
    await using site = await openEngineSite({ isStarted: false });
    const startedAt: number[] = [];
    for (let i = 0; i < 100; i++) {
      site.let(`m${i}.test`, (context) => {
        startedAt.push(site.clock.now());
        return answers()(context);
      });
    }
    await many(site, 100, { interval_seconds: 5 });
    await site.start();
    // The first checks bring the monitors up, which is written at once.
    await site.clock.advance(6 * SECOND_MS);
    startedAt.length = 0;
    await site.clock.advance(20 * SECOND_MS);
    expect(startedAt.length).toBeGreaterThan(390);
    expect(new Set(startedAt).size).toBeLessThan(startedAt.length * 0.83);
    const { delays } = site.engine.figures();
    // Up to 10 ms late, up to 50 ms late, and later.
    expect(delays.slice(2)).toEqual(delays.slice(2).map(() => 0));
  });

  test("a heartbeat before the start does not stop other monitors from being checked", async () => {
    await using site = await openEngineSite({ isStarted: false });
    await many(site, 5);
    const job = await site.monitor({ name: "job", type: "push", config: { grace_seconds: 30 } });
    const beat = site.engine.heartbeat(job.id, { outcome: "ok", latencyMs: null, message: null });
    site.engine.start();
    await site.clock.advance(2 * MINUTE_MS);
    await beat;
    for (let i = 0; i < 5; i++) expect(site.checkCount(`m${i}.test`)).toBeGreaterThanOrEqual(1);
    expect(site.state(job.id)).toBe("down");
  });

  test("an engine without monitors checks and writes nothing", async () => {
    await using site = await openEngineSite();
    await site.clock.advance(5 * MINUTE_MS);
    expect(site.checkCount()).toBe(0);
    expect(site.liveness()).toBeUndefined();
  });
});

describe("checks while the engine runs", () => {
  test("a new monitor is checked at once", async () => {
    await using site = await openEngineSite();
    await site.clock.advance(SECOND_MS);
    const { id } = await site.monitor({ interval_seconds: 3_600 });
    await site.clock.advance(SECOND_MS);
    expect(site.checkCount("api.test")).toBe(1);
    expect(site.state(id)).toBe("up");
  });

  test("a changed monitor is checked at once with its new configuration", async () => {
    await using site = await openEngineSite();
    const { id } = await site.monitor({ interval_seconds: 3_600 });
    await site.clock.advance(SECOND_MS);
    const { ctx } = site.app;
    const config = { url: "https://other.test/" };
    await ctx.db.write((tx) => updateMonitor(ctx, tx, id, { config }, CLI_ACTOR));
    await site.clock.advance(SECOND_MS);
    expect(site.checkCount("other.test")).toBe(1);
    expect(site.checkCount("api.test")).toBe(1);
  });

  test("a deleted monitor is not checked", async () => {
    await using site = await openEngineSite();
    const { id } = await site.monitor();
    await site.clock.advance(MINUTE_MS);
    const { ctx } = site.app;
    await ctx.db.write((tx) => deleteMonitor(ctx, tx, id, CLI_ACTOR));
    const before = site.checkCount();
    expect(before).toBeGreaterThan(0);
    await site.clock.advance(5 * MINUTE_MS);
    expect(site.checkCount()).toBe(before);
  });

  test("a paused monitor is not checked, and a resumed one is checked at once without earlier failures", async () => {
    await using site = await openEngineSite();
    const { id } = await site.monitor({ failure_threshold: 2, retry_interval_seconds: 60 });
    await site.clock.advance(SECOND_MS);
    site.let("api.test", fails());
    await site.clock.advance(61 * SECOND_MS);
    await pause(site, id);
    const before = site.checkCount();
    await site.clock.advance(10 * MINUTE_MS);
    expect(site.checkCount()).toBe(before);
    expect(site.state(id)).toBe("paused");

    await resume(site, id);
    await site.clock.advance(SECOND_MS);
    expect(site.checkCount()).toBe(before + 1);
    // The failure before the pause counts no more.
    expect(site.state(id)).toBe("pending");
  });

  test("the result of a check is dropped if its monitor was paused meanwhile", async () => {
    await using site = await openEngineSite();
    const { id } = await site.monitor({ failure_threshold: 1 });
    await site.clock.advance(SECOND_MS);
    const before = site.checks(id).length;
    site.let("api.test", hangs());
    for (let s = 0; s < 61 && site.engine.figures().underWay === 0; s++) {
      await site.clock.advance(SECOND_MS);
    }
    expect(site.engine.figures().underWay).toBe(1);
    await pause(site, id);
    await site.clock.advance(MINUTE_MS);
    expect(site.engine.figures().underWay).toBe(0);
    expect(site.checks(id)).toHaveLength(before);
    expect(site.state(id)).toBe("paused");
  });

  test("at most 256 checks run at once, and the others follow", async () => {
    await using site = await openEngineSite({ isStarted: false });
    const release = Promise.withResolvers<void>();
    const order: number[] = [];
    const ids = await many(site, 300, { interval_seconds: 5 });
    for (const i of ids.keys()) {
      site.let(`m${i}.test`, async () => {
        order.push(i);
        await release.promise;
        return { outcome: "ok", latencyMs: 1, message: null };
      });
    }
    await site.start();
    await site.clock.advance(5 * SECOND_MS);
    expect(site.engine.figures().underWay).toBe(256);
    expect(site.checkCount()).toBe(256);
    release.resolve();
    await settle();
    await site.clock.advance(100);
    expect(new Set(order).size).toBe(300);
    expect(site.engine.figures().underWay).toBe(0);
  });

  test("hanging targets do not delay checks of other targets", async () => {
    await using site = await openEngineSite({ isStarted: false });
    const hanging = await many(site, 300, { interval_seconds: 5, timeout_ms: 60_000 });
    for (const i of hanging.keys()) site.let(`m${i}.test`, hangs());
    await site.start();
    await site.clock.advance(2 * MINUTE_MS);
    const quick = await site.monitor({ name: "quick", interval_seconds: 5 });
    await site.clock.advance(MINUTE_MS);
    expect(site.checks(quick.id).length).toBeGreaterThanOrEqual(11);
    expect(site.engine.figures().underWay).toBeGreaterThan(150);
    expect(site.engine.figures().underWay).toBeLessThanOrEqual(192);
    for (let minute = 0; minute < 5; minute++) await site.clock.advance(MINUTE_MS);
    // None of those that hang is forgotten either.
    for (const id of hanging) expect(site.checks(id).length).toBeGreaterThanOrEqual(2);
  });

  test("hanging targets that were down before a restart do not delay other checks after it", async () => {
    await using site = await openEngineSite({ isStarted: false });
    const input = { interval_seconds: 5, timeout_ms: 60_000, failure_threshold: 1 };
    const hanging = await many(site, 300, input);
    for (const i of hanging.keys()) site.let(`m${i}.test`, fails());
    const quick = await site.monitor({ name: "quick", interval_seconds: 5 });
    await site.start();
    await site.clock.advance(10 * SECOND_MS);
    expect(hanging.every((id) => site.state(id) === "down")).toBe(true);
    site.kill();
    for (const i of hanging.keys()) site.let(`m${i}.test`, hangs());
    await site.clock.advance(SECOND_MS);
    const before = site.checks(quick.id).length;
    await site.start();
    await site.clock.advance(30 * SECOND_MS);
    expect(site.checks(quick.id).length).toBeGreaterThanOrEqual(before + 5);
  });

  test("a target that never answers fails at the timeout and does not delay other checks", async () => {
    await using site = await openEngineSite();
    const slow = await site.monitor({ name: "slow", failure_threshold: 1, timeout_ms: 3_000 });
    const quick = await site.monitor({ name: "quick" });
    site.let("slow.test", hangs());
    await site.clock.advance(2 * SECOND_MS);
    expect(site.state(quick.id)).toBe("up");
    expect(site.state(slow.id)).toBe("pending");
    await site.clock.advance(2 * SECOND_MS);
    expect(site.state(slow.id)).toBe("down");
    expect(site.checks(slow.id)[0]?.message).toBe("Timed out connecting.");
  });

  test("a probe that ignores its deadline fails with a timeout", async () => {
    await using site = await openEngineSite();
    // The next check must not begin before the end of the test.
    const seldom = { interval_seconds: 86_400 };
    const { id } = await site.monitor({ failure_threshold: 1, timeout_ms: 3_000, ...seldom });
    site.let("api.test", () => new Promise(() => {}));
    await site.clock.advance(5 * SECOND_MS);
    expect(site.engine.figures().underWay).toBe(0);
    expect(site.checks(id)[0]).toMatchObject({ outcome: "failed", message: "Timed out." });
  });

  test("a probe that throws leads to no_data and a log entry", async () => {
    await using site = await openEngineSite();
    const { id } = await site.monitor({ failure_threshold: 1 });
    site.let("api.test", () => {
      throw new Error("a defect");
    });
    await site.clock.advance(2 * SECOND_MS);
    expect(site.state(id)).toBe("no_data");
    expect(
      site.app.logged.some(({ msg }) => msg === "a check failed because of an internal error"),
    ).toBe(true);
  });
});

describe("checks on demand", () => {
  test("a check on demand runs at once and is stored before it is answered", async () => {
    await using site = await openEngineSite();
    const { id } = await site.monitor({ interval_seconds: 3_600 });
    await site.clock.advance(SECOND_MS);
    site.let("api.test", answers(77));
    await site.clock.advance(SECOND_MS);
    const row = await site.engine.checkNow(id);
    expect(row).toMatchObject({ outcome: "ok", latencyMs: 77, at: site.clock.now() });
    expect(site.checks(id).at(-1)).toEqual(row);
  });

  test("only a check on demand records its steps, and ends the last one with the check", async () => {
    await using site = await openEngineSite();
    const { id } = await site.monitor();
    const recorded: boolean[] = [];
    site.let("api.test", async ({ clock, steps }) => {
      recorded.push(steps !== undefined);
      const startedAt = clock.monotonic();
      steps?.begin("query", "SELECT");
      await new Promise<void>((resolve) => clock.after(40, resolve));
      return { outcome: "failed", latencyMs: clock.monotonic() - startedAt, message: "Refused." };
    });
    await site.clock.advance(MINUTE_MS);
    expect(recorded.length).toBeGreaterThan(0);
    expect(recorded).not.toContain(true);
    const recorder = new StepRecorder(site.clock);
    const joining = new StepRecorder(site.clock);
    const checked = site.engine.checkNow(id, recorder);
    const joined = site.engine.checkNow(id, joining);
    await site.clock.advance(40);
    expect(await checked).toEqual(await joined);
    expect(recorded.at(-1)).toBe(true);
    expect(recorder.steps).toEqual([
      { name: "query", durationMs: 40, isOk: false, detail: "SELECT: Refused." },
    ]);
    expect(joining.steps).toEqual([]);
  });

  test("a check on demand that is repeated, since its monitor was changed meanwhile, has no steps", async () => {
    await using site = await openEngineSite();
    const { id } = await site.monitor({ interval_seconds: 3_600 });
    await site.clock.advance(MINUTE_MS);
    site.let("api.test", async ({ clock, steps }) => {
      steps?.begin("connect", "203.0.113.5:80");
      await new Promise<void>((resolve) => clock.after(40, resolve));
      return { outcome: "failed", latencyMs: null, message: "Refused." };
    });
    const recorder = new StepRecorder(site.clock);
    const checked = site.engine.checkNow(id, recorder);
    const { app } = site;
    await app.ctx.db.write((tx) =>
      updateMonitor(app.ctx, tx, id, { timeout_ms: 5_000 }, CLI_ACTOR),
    );
    site.let("api.test", answers(77));
    await site.clock.advance(SECOND_MS);
    expect(await checked).toMatchObject({ outcome: "ok", latencyMs: 77 });
    expect(recorder.steps).toEqual([]);
  });

  test("a check on demand that waits to be repeated is rejected once its monitor is paused", async () => {
    await using site = await openEngineSite();
    const seldom = { interval_seconds: 3_600, timeout_ms: 60_000 };
    const { id } = await site.monitor(seldom);
    const others = await many(site, 256, seldom);
    await site.clock.advance(MINUTE_MS);
    const answer = Promise.withResolvers<void>();
    site.let("api.test", async () => {
      await answer.promise;
      return { outcome: "ok", latencyMs: 20, message: null };
    });
    const checked = site.engine.checkNow(id).catch((error: unknown) => error);
    // They take all places.
    for (const [index, other] of others.entries()) {
      site.let(`m${index}.test`, hangs());
      void site.engine.checkNow(other).catch(() => {});
    }
    const { app } = site;
    await app.ctx.db.write((tx) =>
      updateMonitor(app.ctx, tx, id, { timeout_ms: 5_000 }, CLI_ACTOR),
    );
    await site.clock.advance(SECOND_MS);
    answer.resolve();
    await settle();
    const pausedAt = site.clock.now();
    await pause(site, id);
    let waitedMs: number | undefined;
    void checked.then(() => (waitedMs = site.clock.now() - pausedAt));
    await site.clock.advance(SECOND_MS);
    expect(waitedMs).toBeLessThan(SECOND_MS);
    expect(await checked).toMatchObject({ code: "conflict" });
  });

  test("a check on demand that waits for parents is rejected once its monitor is paused", async () => {
    await using site = await openEngineSite();
    const seldom = { interval_seconds: 3_600, timeout_ms: 60_000 };
    const router = await site.monitor({ ...seldom, name: "router" });
    const { id } = await site.monitor({ ...seldom, depends_on: [router.id] });
    await site.clock.advance(MINUTE_MS);
    site.let("router.test", hangs());
    site.let("api.test", fails());
    const checked = site.engine.checkNow(id).catch((error: unknown) => error);
    await site.clock.advance(SECOND_MS);
    await pause(site, id);
    let isAnswered = false;
    void checked.then(() => (isAnswered = true));
    await site.clock.advance(SECOND_MS);
    expect(isAnswered).toBe(true);
    expect(await checked).toMatchObject({ code: "conflict" });
  });

  test("an internal error and a deadline that a probe ignores are failed steps too", async () => {
    await using site = await openEngineSite();
    const { id } = await site.monitor({ timeout_ms: 500 });
    site.let("api.test", async ({ steps }) => {
      steps?.begin("connect");
      throw new Error("s3cret");
    });
    const broken = new StepRecorder(site.clock);
    await site.engine.checkNow(id, broken);
    expect(broken.steps).toMatchObject([
      { name: "connect", isOk: false, detail: "The check failed because of an internal error." },
    ]);
    site.let("api.test", ({ steps }) => {
      steps?.begin("request");
      return new Promise(() => {});
    });
    await site.clock.advance(1);
    const late = new StepRecorder(site.clock);
    const checked = site.engine.checkNow(id, late);
    await site.clock.advance(2_000);
    expect((await checked).message).toBe("Timed out.");
    expect(late.steps).toMatchObject([{ name: "request", isOk: false, detail: "Timed out." }]);
  });

  test("a check on demand counts towards the failure threshold", async () => {
    await using site = await openEngineSite();
    const { id } = await site.monitor({ failure_threshold: 2, interval_seconds: 3_600 });
    await site.clock.advance(SECOND_MS);
    site.let("api.test", fails());
    await site.engine.checkNow(id);
    expect(site.state(id)).toBe("up");
    await site.clock.advance(1);
    await site.engine.checkNow(id);
    expect(site.state(id)).toBe("down");
  });

  test("the time of the next check is known, except of paused monitors and those that wait for calls", async () => {
    await using site = await openEngineSite();
    const { id } = await site.monitor({ interval_seconds: 3_600 });
    const push = await site.monitor({ type: "push", config: {} });
    await site.clock.advance(SECOND_MS);
    const at = site.engine.nextCheckAt(id) ?? 0;
    expect(at).toBeGreaterThan(site.clock.now());
    expect(at).toBeLessThanOrEqual(site.clock.now() + 3_700 * SECOND_MS);
    const before = site.checkCount();
    await site.clock.advance(at - site.clock.now() + SECOND_MS);
    expect(site.checkCount()).toBe(before + 1);
    expect(site.engine.nextCheckAt(push.id)).toBeUndefined();
    expect(site.engine.nextCheckAt("mon_none")).toBeUndefined();
  });

  test("a check on demand joins a running check of the monitor", async () => {
    await using site = await openEngineSite();
    const { id } = await site.monitor();
    const answer = Promise.withResolvers<void>();
    site.let("api.test", async () => {
      await answer.promise;
      return { outcome: "ok", latencyMs: 5, message: null };
    });
    const both = Promise.all([site.engine.checkNow(id), site.engine.checkNow(id)]);
    await settle();
    answer.resolve();
    const [a, b] = await both;
    expect(a).toEqual(b);
    expect(site.checkCount()).toBe(1);
  });

  test("a check on demand is rejected for unknown, paused and push monitors", async () => {
    await using site = await openEngineSite();
    const paused = await site.monitor({ name: "paused", paused: true });
    const push = await site.monitor({ name: "push", type: "push", config: {} });
    const rejected = (id: string) => site.engine.checkNow(id).catch((error) => error.code);
    expect(await rejected("mon_00000000000000000000000000")).toBe("not_found");
    expect(await rejected(paused.id)).toBe("conflict");
    expect(await rejected(push.id)).toBe("conflict");
    expect(site.checkCount()).toBe(0);
  });
});

test("stopping the engine ends running checks without a result and writes finished results", async () => {
  await using site = await openEngineSite();
  const quick = await site.monitor({ name: "quick" });
  const slow = await site.monitor({ name: "slow", failure_threshold: 1 });
  site.let("slow.test", hangs());
  await site.clock.advance(SECOND_MS);
  await site.engine.checkNow(quick.id);
  site.let("quick.test", answers(99));
  const requested = site.engine.checkNow(slow.id).catch((error) => error.code);
  await site.stop();
  expect(await requested).toBe("unavailable");
  expect(site.checks(slow.id)).toEqual([]);
  expect(site.checks(quick.id).length).toBeGreaterThan(0);
  const before = site.checkCount();
  await site.clock.advance(10 * MINUTE_MS);
  expect(site.checkCount()).toBe(before);
});
