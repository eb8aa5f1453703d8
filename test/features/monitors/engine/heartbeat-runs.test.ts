import { describe, expect, test } from "bun:test";
import {
  deleteMonitor,
  pauseMonitor,
  resumeMonitor,
} from "../../../../src/features/monitors/monitors";
import { listRuns, listSignals } from "../../../../src/features/monitors/job-store";
import { findMonitor } from "../../../../src/features/monitors/store";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { MINUTE_MS, SECOND_MS } from "../../../../src/base/time";
import { type EngineSite, openEngineSite } from "../../../support/engine-site";
import { updateMonitor } from "../../../support/examined";

/** A job that runs every hour and may take ten minutes. */
async function openJob(input = {}) {
  const site = await openEngineSite();
  const { id, num } = await site.monitor({
    name: "backup",
    type: "push",
    config: { grace_seconds: 600 },
    interval_seconds: 3_600,
    failure_threshold: 1,
    ...input,
  });
  await site.clock.advance(SECOND_MS);
  const { engine, clock } = site;
  return {
    site,
    id,
    num,
    clock,
    start: (rid = "") => site.engine.heartbeat(id, { kind: "start", rid, message: null }),
    log: (message: string) => site.engine.heartbeat(id, { kind: "log", message }),
    end: (outcome: "ok" | "failed" = "ok", more = {}) =>
      site.engine.heartbeat(id, { outcome, latencyMs: null, message: null, ...more }),
    runs: () => runsOf(site, num),
    signals: (limit = 1_000) => listSignals(site.app.ctx.db, { monitorNum: num, limit }),
    engine,
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  };
}

/** The ids of the open runs, in the order of their starts. */
function runsOf(site: EngineSite, monitorNum: number): string[] {
  return listRuns(site.app.ctx.db, { monitorNum })
    .map(({ rid }) => rid)
    .toReversed();
}

describe("a run whose start is reported", () => {
  test("a run's duration is the response time of the result that ends it", async () => {
    await using job = await openJob();
    await job.start("a");
    expect(job.site.checks(job.id)).toEqual([]);
    await job.clock.advance(90 * SECOND_MS);
    await job.end("ok", { rid: "a", message: "12 files" });
    expect(job.site.checks(job.id)).toMatchObject([
      { outcome: "ok", latencyMs: 90_000, message: "12 files" },
    ]);
    expect(job.runs()).toEqual([]);
    expect(job.site.state(job.id)).toBe("up");
  });

  test("a duration that the job reports itself is kept", async () => {
    await using job = await openJob();
    await job.start();
    await job.clock.advance(MINUTE_MS);
    await job.end("ok", { latencyMs: 1_234.4 });
    expect(job.site.checks(job.id)).toMatchObject([{ latencyMs: 1_234 }]);
  });

  test("a report without a start has no duration", async () => {
    await using job = await openJob();
    await job.end("ok", { rid: "unknown" });
    expect(job.site.checks(job.id)).toMatchObject([{ outcome: "ok", latencyMs: null }]);
  });

  test("a run without an end within the grace period fails the check once", async () => {
    await using job = await openJob();
    await job.end();
    await job.clock.advance(10 * MINUTE_MS);
    await job.start("a");
    await job.clock.advance(10 * MINUTE_MS - SECOND_MS);
    expect(job.site.state(job.id)).toBe("up");
    await job.clock.advance(2 * SECOND_MS);
    expect(job.site.state(job.id)).toBe("down");
    await job.clock.advance(30 * MINUTE_MS);
    const failures = job.site.checks(job.id).filter(({ outcome }) => outcome === "failed");
    expect(failures.map(({ message }) => message)).toEqual(["Started, not finished."]);
    expect(job.site.eventTypes()).toEqual(["monitor.down"]);
  });

  test("a run that ends after its failure still has a duration, and brings the monitor up", async () => {
    await using job = await openJob();
    await job.start("a");
    await job.clock.advance(20 * MINUTE_MS);
    expect(job.site.state(job.id)).toBe("down");
    expect(job.runs()).toEqual(["a"]);
    await job.end("ok", { rid: "a" });
    expect(job.site.state(job.id)).toBe("up");
    expect(job.site.checks(job.id).at(-1)?.latencyMs).toBe(20 * MINUTE_MS);
  });

  test("a start does not move the time by which the job has to report", async () => {
    await using job = await openJob({ config: { grace_seconds: 60 } });
    await job.end();
    await job.clock.advance(60 * MINUTE_MS + 30 * SECOND_MS);
    await job.start();
    await job.clock.advance(29 * SECOND_MS);
    expect(job.site.state(job.id)).toBe("up");
    await job.clock.advance(2 * SECOND_MS);
    expect(job.site.state(job.id)).toBe("down");
    expect(job.site.checks(job.id).at(-1)?.message).toBe("No heartbeat arrived in time.");
  });

  test("a run of a job without a deadline still has to end within the grace period", async () => {
    await using job = await openJob({ interval_seconds: null });
    await job.start();
    await job.clock.advance(10 * MINUTE_MS - SECOND_MS);
    expect(job.site.state(job.id)).toBe("pending");
    await job.clock.advance(2 * SECOND_MS);
    expect(job.site.state(job.id)).toBe("down");
  });

  test("a missed call after an unfinished run is found at its own time", async () => {
    await using job = await openJob({ failure_threshold: 2 });
    await job.end();
    await job.clock.advance(50 * MINUTE_MS);
    await job.start();
    await job.clock.advance(10 * MINUTE_MS + SECOND_MS);
    expect(job.site.state(job.id)).toBe("up");
    await job.clock.advance(10 * MINUTE_MS);
    expect(job.site.checks(job.id).map(({ message }) => message)).toEqual([
      null,
      "Started, not finished.",
      "No heartbeat arrived in time.",
    ]);
    expect(job.site.state(job.id)).toBe("down");
  });
});

describe("runs that overlap", () => {
  test("each run has the duration since its own start", async () => {
    await using job = await openJob();
    await job.start("a");
    await job.clock.advance(MINUTE_MS);
    await job.start("b");
    await job.clock.advance(MINUTE_MS);
    await job.end("ok", { rid: "a" });
    expect(job.runs()).toEqual(["b"]);
    await job.clock.advance(MINUTE_MS);
    await job.end("ok", { rid: "b" });
    expect(job.site.checks(job.id).map(({ latencyMs }) => latencyMs)).toEqual([
      2 * MINUTE_MS,
      2 * MINUTE_MS,
    ]);
  });

  test("a success of another run leaves a run open, whose end is still missed", async () => {
    await using job = await openJob();
    await job.start("a");
    await job.clock.advance(MINUTE_MS);
    await job.start("b");
    await job.end("ok", { rid: "b" });
    await job.end("ok", { rid: "c" });
    expect(job.runs()).toEqual(["a"]);
    await job.clock.advance(9 * MINUTE_MS);
    expect(job.site.state(job.id)).toBe("down");
    expect(job.site.checks(job.id).at(-1)?.message).toBe("Started, not finished.");
  });

  test("a failure of another run ends all runs", async () => {
    await using job = await openJob();
    await job.start("a");
    await job.start("b");
    await job.end("failed", { rid: "c" });
    expect(job.runs()).toEqual([]);
    await job.end();
    await job.clock.advance(30 * MINUTE_MS);
    expect(job.site.state(job.id)).toBe("up");
  });

  test("a success without an id ends all runs, and has a duration only if a run without an id was open", async () => {
    await using job = await openJob();
    await job.start("a");
    await job.clock.advance(MINUTE_MS);
    await job.end("ok");
    expect(job.runs()).toEqual([]);
    await job.start();
    await job.start("a");
    await job.clock.advance(2 * MINUTE_MS);
    await job.end("ok");
    expect(job.runs()).toEqual([]);
    expect(job.site.checks(job.id).map(({ latencyMs }) => latencyMs)).toEqual([
      null,
      2 * MINUTE_MS,
    ]);
  });

  test("a second start with the same id starts the run again", async () => {
    await using job = await openJob();
    await job.start("a");
    await job.clock.advance(9 * MINUTE_MS);
    await job.start("a");
    expect(job.runs()).toEqual(["a"]);
    await job.clock.advance(9 * MINUTE_MS);
    expect(job.site.state(job.id)).toBe("pending");
    await job.end("ok", { rid: "a" });
    expect(job.site.checks(job.id).at(-1)?.latencyMs).toBe(9 * MINUTE_MS);
  });

  test("the 21st run that is open at once is accepted without being followed", async () => {
    await using job = await openJob();
    for (let n = 1; n <= 21; n++) await job.start(`run-${n}`);
    expect(job.runs()).toHaveLength(20);
    expect(job.runs()).not.toContain("run-21");
    expect(job.signals()).toHaveLength(21);
    await job.clock.advance(MINUTE_MS);
    await job.end("ok", { rid: "run-21" });
    expect(job.site.checks(job.id)).toMatchObject([{ outcome: "ok", latencyMs: null }]);
    expect(job.runs()).toHaveLength(20);
    await job.end("ok", { rid: "run-1" });
    await job.start("run-22");
    expect(job.runs()).toContain("run-22");
  });

  test("a start takes the place of the oldest run that is late", async () => {
    await using job = await openJob();
    await job.start("old");
    await job.clock.advance(11 * MINUTE_MS);
    for (let n = 1; n <= 20; n++) await job.start(`run-${n}`);
    expect(job.runs()).toHaveLength(20);
    expect(job.runs()).not.toContain("old");
    expect(job.runs()).toContain("run-20");
  });
});

describe("signals of a job", () => {
  test("the last 100 signals are kept with kind, id, start, duration, exit code and message", async () => {
    await using job = await openJob();
    for (let n = 0; n < 98; n++) await job.log(`message ${n}`);
    await job.start("a");
    const startedAt = job.clock.now();
    await job.clock.advance(SECOND_MS);
    await job.end("failed", { rid: "a", exitCode: 3, message: "disk full" });
    expect(job.signals()).toHaveLength(100);
    await job.log("one more");
    const signals = job.signals();
    expect(signals).toHaveLength(100);
    expect(signals.at(-1)?.message).toBe("message 1");
    const none = { exitCode: null, startedAt: null, durationMs: null };
    expect(signals.slice(0, 3)).toMatchObject([
      { kind: "log", rid: "", message: "one more", ...none },
      {
        kind: "fail",
        rid: "a",
        exitCode: 3,
        startedAt,
        durationMs: SECOND_MS,
        message: "disk full",
      },
      { kind: "start", rid: "a", message: null, ...none },
    ]);
  });

  test("a report without id, exit code, start and message is kept as a result only", async () => {
    await using job = await openJob();
    await job.end();
    await job.end("failed", { latencyMs: 12 });
    expect(job.signals()).toEqual([]);
    expect(job.site.checks(job.id)).toHaveLength(2);
    await job.end("ok", { message: "12 files" });
    expect(job.signals()).toMatchObject([{ kind: "success", message: "12 files" }]);
  });

  test("a log changes neither the state nor the time by which the job has to report", async () => {
    await using job = await openJob();
    await job.end();
    await job.start("a");
    for (let minutes = 0; minutes < 9; minutes++) {
      await job.clock.advance(MINUTE_MS);
      await job.log("still at it");
    }
    expect(job.site.checks(job.id)).toHaveLength(1);
    expect(job.runs()).toEqual(["a"]);
    await job.clock.advance(MINUTE_MS);
    expect(job.site.state(job.id)).toBe("down");
  });

  test.each([
    [0, "ok", null],
    [1, "failed", "Exit code 1."],
    [255, "failed", "Exit code 255."],
  ] as const)("the result of exit code %d is %s", async (exitCode, outcome, message) => {
    await using job = await openJob();
    await job.end(outcome, { exitCode });
    expect(job.site.checks(job.id)).toMatchObject([{ outcome, message }]);
    expect(job.signals()).toMatchObject([{ exitCode }]);
  });

  test("the message of a failure follows its exit code", async () => {
    await using job = await openJob();
    await job.end("failed", { exitCode: 2, message: "disk full" });
    expect(job.site.checks(job.id)[0]?.message).toBe("Exit code 2. disk full");
  });

  test("a paused monitor records no signal, and its open runs are forgotten", async () => {
    await using job = await openJob();
    const { ctx } = job.site.app;
    await job.end();
    await job.start("a");
    await ctx.db.write((tx) => pauseMonitor(ctx, tx, job.id, CLI_ACTOR));
    await job.start("b");
    await job.log("quiet");
    await job.end("failed");
    expect(job.runs()).toEqual([]);
    expect(job.signals()).toHaveLength(1);
    expect(job.site.checks(job.id)).toHaveLength(1);
    await ctx.db.write((tx) => resumeMonitor(ctx, tx, job.id, CLI_ACTOR));
    await job.clock.advance(30 * MINUTE_MS);
    expect(job.site.state(job.id)).toBe("pending");
    await job.end("ok", { rid: "a" });
    expect(job.site.checks(job.id).at(-1)?.latencyMs).toBeNull();
  });

  test("signals that wait for a full disk are refused now and written later", async () => {
    await using job = await openJob();
    job.site.disk = "full";
    await expect(job.start("a")).rejects.toMatchObject({ code: "unavailable" });
    job.site.disk = "fine";
    await job.clock.advance(20 * SECOND_MS);
    expect(job.runs()).toEqual(["a"]);
    expect(job.signals()).toHaveLength(1);
  });
});

test("of more than 100,000 signals that wait for a full disk, the oldest are dropped and refused", async () => {
  await using job = await openJob();
  job.site.disk = "full";
  const refused = Array.from({ length: 100_010 }, () =>
    job.log("x").catch((error: { code: string }) => error.code),
  );
  expect(job.engine.figures()).toMatchObject({ waiting: 100_000, dropped: 10 });
  expect(await refused[0]).toBe("unavailable");
}, 600_000);

describe("runs and restarts of the server", () => {
  test("an open run survives a restart with its start and deadline", async () => {
    await using job = await openJob();
    await job.end();
    await job.start("a");
    await job.clock.advance(5 * MINUTE_MS);
    job.site.kill();
    await job.clock.advance(10 * SECOND_MS);
    await job.site.start();
    await job.clock.advance(4 * MINUTE_MS + 45 * SECOND_MS);
    expect(job.site.state(job.id)).toBe("up");
    await job.clock.advance(10 * SECOND_MS);
    expect(job.site.state(job.id)).toBe("down");
    expect(job.site.checks(job.id).at(-1)?.message).toBe("Started, not finished.");
    await job.end("ok", { rid: "a" });
    expect(job.site.checks(job.id).at(-1)?.latencyMs).toBe(10 * MINUTE_MS + 5 * SECOND_MS);
  });

  test("a run whose deadline passes while the server is stopped does not fail the check", async () => {
    await using job = await openJob();
    await job.end();
    await job.start("a");
    await job.clock.advance(9 * MINUTE_MS + 50 * SECOND_MS);
    await job.site.stop();
    await job.clock.advance(20 * SECOND_MS);
    await job.site.start();
    await job.clock.advance(30 * MINUTE_MS);
    expect(job.site.state(job.id)).toBe("up");
    await job.end("ok", { rid: "a" });
    expect(job.site.checks(job.id).at(-1)?.latencyMs).toBe(40 * MINUTE_MS + 10 * SECOND_MS);
  });

  test("a change of the monitor keeps its open runs and uses the new grace period", async () => {
    await using job = await openJob();
    const { ctx } = job.site.app;
    await job.end();
    await job.start("a");
    const config = { grace_seconds: 1_200 };
    await ctx.db.write((tx) => updateMonitor(ctx, tx, job.id, { config }, CLI_ACTOR));
    await job.clock.advance(20 * MINUTE_MS - SECOND_MS);
    expect(job.site.state(job.id)).toBe("up");
    await job.clock.advance(2 * SECOND_MS);
    expect(job.site.state(job.id)).toBe("down");
  });

  test("a clock that is set back makes no run late", async () => {
    await using job = await openJob();
    await job.end();
    await job.start("a");
    await job.clock.advance(5 * MINUTE_MS);
    job.clock.setWallClock(job.clock.now() - 4 * MINUTE_MS);
    await job.clock.advance(8 * MINUTE_MS);
    expect(job.site.state(job.id)).toBe("up");
    await job.clock.advance(2 * MINUTE_MS);
    expect(job.site.state(job.id)).toBe("down");
  });
});

test("deleting a monitor deletes its signals and open runs", async () => {
  await using job = await openJob();
  const { ctx } = job.site.app;
  await job.start("a");
  await ctx.db.write((tx) => deleteMonitor(ctx, tx, job.id, CLI_ACTOR));
  expect(findMonitor(ctx.db, { id: job.id })).toBeUndefined();
  expect([job.runs(), job.signals()]).toEqual([[], []]);
});
