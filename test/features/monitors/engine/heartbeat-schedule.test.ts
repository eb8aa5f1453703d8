import { describe, expect, spyOn, test } from "bun:test";
import { resumeMonitor } from "../../../../src/features/monitors/monitors";
import type { UpdateMonitorBody } from "../../../../src/features/monitors/wire";
import { CLI_ACTOR } from "../../../../src/base/actor";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../../src/base/time";
import { answers, fails, openEngineSite } from "../../../support/engine-site";
import { updateMonitor } from "../../../support/examined";

const OK = { outcome: "ok", latencyMs: null, message: null } as const;

interface JobOptions {
  schedule?: string;
  zone?: string;
  graceSeconds?: number;
  /** Time at which the monitor is created. */
  start?: string;
}

/** A job that is due at 03:00 UTC, with a grace period of ten minutes, and reports two hours before. */
async function openJob(options: JobOptions = {}, more = {}) {
  const { schedule = "0 3 * * *", zone = "UTC", graceSeconds = 600 } = options;
  const site = await openEngineSite({ start: options.start ?? "2026-06-10T01:00:30Z" });
  const { clock } = site;
  const config = { schedule, time_zone: zone, grace_seconds: graceSeconds };
  const { id } = await site.monitor({
    name: "backup",
    type: "push",
    config,
    failure_threshold: 1,
    ...more,
  });
  await clock.advance(SECOND_MS);
  const job = {
    site,
    id,
    clock,
    beat: (more = {}) => site.engine.heartbeat(id, { ...OK, ...more }),
    start: (rid = "") => site.engine.heartbeat(id, { kind: "start", rid, message: null }),
    state: () => site.state(id),
    async until(iso: string) {
      await clock.advance(Date.parse(iso) - clock.now());
    },
    /** The times of failed checks, to the minute. */
    failures: () =>
      site
        .checks(id)
        .filter(({ outcome }) => outcome === "failed")
        .map(({ at }) => new Date(at).toISOString().slice(0, 16)),
    async change(input: UpdateMonitorBody) {
      const { ctx } = site.app;
      await ctx.db.write((tx) => updateMonitor(ctx, tx, id, input, CLI_ACTOR));
    },
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  };
  return job;
}

describe("a heartbeat with a schedule", () => {
  test("a job is late after the next time of its schedule and the grace period", async () => {
    await using job = await openJob();
    await job.beat();
    await job.until("2026-06-10T03:09:59Z");
    expect(job.state()).toBe("up");
    await job.clock.advance(2 * SECOND_MS);
    expect(job.state()).toBe("down");
    expect(job.failures()).toEqual(["2026-06-10T03:10"]);
    expect(job.site.checks(job.id).at(-1)?.message).toBe("No heartbeat arrived in time.");
  });

  test("a report before the grace period ends moves the due time to the next of the schedule", async () => {
    await using job = await openJob({ schedule: "0 * * * *" });
    await job.beat();
    await job.until("2026-06-10T02:08:00Z");
    await job.beat();
    await job.until("2026-06-10T03:09:59Z");
    expect(job.state()).toBe("up");
    await job.clock.advance(2 * SECOND_MS);
    expect(job.failures()).toEqual(["2026-06-10T03:10"]);
  });

  test("a failure moves the due time as a success does", async () => {
    await using job = await openJob({ schedule: "0 * * * *" });
    await job.beat();
    await job.until("2026-06-10T02:05:00Z");
    await job.beat({ outcome: "failed" });
    await job.until("2026-06-10T03:11:00Z");
    expect(job.failures()).toEqual(["2026-06-10T02:05", "2026-06-10T03:10"]);
  });

  test("a job that never calls is late after the first time since the monitor was created", async () => {
    await using job = await openJob();
    await job.until("2026-06-10T03:09:00Z");
    expect(job.state()).toBe("pending");
    await job.until("2026-06-10T03:11:00Z");
    expect(job.state()).toBe("down");
  });

  test("each missed time of the schedule is a failure", async () => {
    await using job = await openJob({ schedule: "0 * * * *" }, { failure_threshold: 3 });
    await job.beat();
    await job.until("2026-06-10T04:09:00Z");
    expect(job.state()).toBe("up");
    await job.until("2026-06-10T04:11:00Z");
    expect(job.failures()).toEqual(["2026-06-10T02:10", "2026-06-10T03:10", "2026-06-10T04:10"]);
    expect(job.state()).toBe("down");
  });

  test("a grace period longer than the time between two calls is kept", async () => {
    await using job = await openJob({ schedule: "*/10 * * * *", graceSeconds: 3_600 });
    await job.beat();
    await job.until("2026-06-10T02:09:00Z");
    expect(job.state()).toBe("up");
    await job.until("2026-06-10T02:21:00Z");
    expect(job.failures()).toEqual(["2026-06-10T02:10", "2026-06-10T02:20"]);
  });

  test("a start moves no due time, and a run has to end within the grace period", async () => {
    await using job = await openJob({ graceSeconds: 3_600 });
    await job.beat();
    await job.until("2026-06-10T02:30:00Z");
    await job.start();
    await job.until("2026-06-10T03:29:00Z");
    expect(job.state()).toBe("up");
    await job.until("2026-06-10T03:31:00Z");
    expect(job.site.checks(job.id).at(-1)?.message).toBe("Started, not finished.");
    await job.until("2026-06-10T04:01:00Z");
    expect(job.failures()).toEqual(["2026-06-10T03:30", "2026-06-10T04:00"]);
  });

  test("a schedule in a time zone is due by its clock", async () => {
    await using job = await openJob({ zone: "Asia/Kolkata", start: "2026-06-10T20:00:00Z" });
    await job.beat();
    await job.until("2026-06-10T21:39:00Z");
    expect(job.state()).toBe("up");
    await job.until("2026-06-10T21:41:00Z");
    expect(job.failures()).toEqual(["2026-06-10T21:40"]);
  });

  test("a changed schedule counts at once, and a removed one leaves no deadline", async () => {
    await using job = await openJob();
    await job.beat();
    await job.change({ config: { schedule: "30 1 * * *" } });
    await job.until("2026-06-10T01:41:00Z");
    expect(job.failures()).toEqual(["2026-06-10T01:40"]);
    await job.change({ config: { schedule: null } });
    await job.beat();
    await job.clock.advance(4 * HOUR_MS);
    expect(job.state()).toBe("up");
    await job.change({ interval_seconds: 60, config: { grace_seconds: 0 } });
    await job.clock.advance(2 * MINUTE_MS);
    expect(job.state()).toBe("down");
  });

  test("a clock that is set back makes no job late", async () => {
    await using job = await openJob();
    await job.beat();
    await job.until("2026-06-10T03:05:00Z");
    job.clock.setWallClock(Date.parse("2026-06-10T02:35:00Z"));
    await job.clock.advance(20 * MINUTE_MS);
    expect(job.state()).toBe("up");
    await job.until("2026-06-10T03:11:00Z");
    expect(job.state()).toBe("down");
  });

  test.each(["runs", "is stopped"])(
    "a job that called while the clock was ahead is due by the right clock, set while the server %s",
    async (when) => {
      await using job = await openJob();
      job.clock.setWallClock(Date.parse("2027-02-01T12:00:00Z"));
      await job.clock.advance(MINUTE_MS);
      await job.beat();
      if (when === "is stopped") await job.site.stop();
      job.clock.setWallClock(Date.parse("2026-06-10T01:10:00Z"));
      if (when === "is stopped") await job.site.start();
      await job.until("2026-06-10T03:09:00Z");
      expect(job.state()).toBe("up");
      await job.until("2026-06-10T03:11:00Z");
      expect(job.state()).toBe("down");
    },
  );

  test("a run that begins after a clock that was ahead was set right has to end in time", async () => {
    await using job = await openJob({ schedule: "0 3 1 1 *" });
    await job.beat();
    job.clock.setWallClock(Date.parse("2026-08-01T12:00:00Z"));
    await job.clock.advance(MINUTE_MS);
    await job.start("a");
    job.clock.setWallClock(Date.parse("2026-06-10T01:10:00Z"));
    await job.clock.advance(MINUTE_MS);
    await job.beat({ rid: "c" });
    await job.start("b");
    await job.clock.advance(9 * MINUTE_MS);
    expect(job.state()).toBe("up");
    await job.clock.advance(2 * MINUTE_MS);
    expect(job.state()).toBe("down");
  });

  test("a deadline years away is waited for with short timers", async () => {
    await using job = await openJob({ schedule: "0 0 29 2 *", graceSeconds: 31_536_000 });
    using timers = spyOn(job.clock, "after");
    await job.site.stop();
    await job.site.start();
    await job.beat();
    await job.clock.advance(MINUTE_MS);
    const delays = timers.mock.calls.map(([delayMs]) => delayMs);
    expect(Math.max(...delays)).toBeLessThan(2 ** 31);
    expect(job.state()).toBe("up");
  });

  test("a paused job is not late, and a resumed one has until its next time", async () => {
    await using job = await openJob({ schedule: "0 * * * *" }, { paused: true });
    await job.until("2026-06-10T02:30:00Z");
    expect(job.site.checks(job.id)).toEqual([]);
    const { ctx } = job.site.app;
    await ctx.db.write((tx) => resumeMonitor(ctx, tx, job.id, CLI_ACTOR));
    await job.until("2026-06-10T03:09:00Z");
    expect(job.state()).toBe("pending");
    await job.until("2026-06-10T03:11:00Z");
    expect(job.state()).toBe("down");
  });
});

describe("a schedule and the changes of the clock in 2026", () => {
  test.each([
    {
      what: "skips 02:30 in Berlin, at 03:00",
      zone: "Europe/Berlin",
      start: "2026-03-29T00:10:00Z",
      // 03:00 on the clock, which skips from 02:00.
      due: "2026-03-29T01:00",
      next: "2026-03-30T00:30",
    },
    {
      what: "repeats 02:30 in Berlin, at its first pass",
      zone: "Europe/Berlin",
      start: "2026-10-25T00:10:00Z",
      due: "2026-10-25T00:30",
      next: "2026-10-26T01:30",
    },
    {
      what: "skips 02:30 in New York, at 03:00",
      zone: "America/New_York",
      start: "2026-03-08T06:40:00Z",
      due: "2026-03-08T07:00",
      next: "2026-03-09T06:30",
    },
  ])("a call that is due when the clock $what, is due once", async ({ zone, start, due, next }) => {
    await using job = await openJob({ schedule: "30 2 * * *", zone, start, graceSeconds: 0 });
    await job.beat();
    await job.until(`${due}:00Z`);
    await job.clock.advance(MINUTE_MS);
    expect(job.failures()).toEqual([due]);
    await job.beat();
    await job.clock.advance(3 * HOUR_MS);
    expect(job.state()).toBe("up");
    job.clock.setWallClock(Date.parse(`${next}:00Z`) - 30 * SECOND_MS);
    await job.clock.advance(20 * SECOND_MS);
    await job.beat();
    await job.clock.advance(2 * MINUTE_MS);
    expect(job.failures()).toEqual([due, next]);
  });

  test("a call that is due when the clock repeats 01:30 in New York is due at its first pass only", async () => {
    await using job = await openJob({
      schedule: "30 1 * * *",
      zone: "America/New_York",
      start: "2026-11-01T05:10:00Z",
      graceSeconds: 0,
    });
    await job.beat();
    await job.until("2026-11-01T05:31:00Z");
    expect(job.failures()).toEqual(["2026-11-01T05:30"]);
    await job.beat();
    await job.until("2026-11-01T07:00:00Z");
    expect(job.state()).toBe("up");
  });

  test("an hourly call is due in both passes of an hour that the clock repeats", async () => {
    await using job = await openJob({
      schedule: "30 * * * *",
      zone: "Europe/Berlin",
      start: "2026-10-25T00:10:00Z",
      graceSeconds: 0,
    });
    await job.beat();
    await job.until("2026-10-25T02:31:00Z");
    expect(job.failures()).toEqual(["2026-10-25T00:30", "2026-10-25T01:30", "2026-10-25T02:30"]);
  });
});

describe("a schedule and restarts of the server", () => {
  test("a due time that is ahead survives a restart", async () => {
    await using job = await openJob();
    await job.beat();
    await job.site.stop();
    await job.clock.advance(20 * SECOND_MS);
    await job.site.start();
    await job.until("2026-06-10T03:09:00Z");
    expect(job.state()).toBe("up");
    await job.until("2026-06-10T03:11:00Z");
    expect(job.state()).toBe("down");
  });

  test("a deadline survives a restart after the due time", async () => {
    await using job = await openJob();
    await job.beat();
    await job.until("2026-06-10T03:05:00Z");
    await job.site.stop();
    await job.clock.advance(20 * SECOND_MS);
    await job.site.start();
    await job.until("2026-06-10T03:09:00Z");
    expect(job.state()).toBe("up");
    await job.until("2026-06-10T03:11:00Z");
    expect(job.failures()).toEqual(["2026-06-10T03:10"]);
  });

  test("a job that is due while the server is stopped has until its next time", async () => {
    await using job = await openJob({ schedule: "0 * * * *" });
    await job.beat();
    await job.until("2026-06-10T01:59:50Z");
    await job.site.stop();
    // The job calls in vain.
    await job.clock.advance(20 * SECOND_MS);
    await job.site.start();
    await job.until("2026-06-10T03:09:00Z");
    expect(job.state()).toBe("up");
    await job.until("2026-06-10T03:11:00Z");
    expect(job.failures()).toEqual(["2026-06-10T03:10"]);
  });

  test("a deadline that passes while the server is stopped fails no check", async () => {
    await using job = await openJob({ schedule: "0 * * * *" });
    await job.beat();
    await job.until("2026-06-10T02:09:50Z");
    await job.site.stop();
    await job.clock.advance(20 * SECOND_MS);
    await job.site.start();
    await job.until("2026-06-10T03:09:00Z");
    expect(job.state()).toBe("up");
    await job.until("2026-06-10T03:11:00Z");
    expect(job.failures()).toEqual(["2026-06-10T03:10"]);
  });

  test("a time in which the server was offline is without data for a job with a schedule", async () => {
    await using job = await openJob();
    await job.beat();
    await job.site.stop();
    job.clock.setWallClock(Date.parse("2026-06-10T12:00:00Z"));
    await job.site.start();
    expect(job.state()).toBe("no_data");
    await job.beat();
    expect(job.state()).toBe("up");
  });
});

test("a scheduled job that still does not call once its parent is up again is down after an hour and the grace period", async () => {
  await using site = await openEngineSite({ start: "2026-06-10T02:30:00Z" });
  const router = await site.monitor({ name: "router" });
  const job = await site.monitor({
    name: "backup",
    type: "push",
    config: { schedule: "0 3 * * *", grace_seconds: 600 },
    depends_on: [router.id],
  });
  await site.engine.heartbeat(job.id, OK);
  site.let("router.test", fails());
  await site.clock.advance(50 * MINUTE_MS);
  expect(site.state(job.id)).toBe("unreachable");
  site.let("router.test", answers());
  await site.clock.advance(HOUR_MS);
  expect(site.state(job.id)).toBe("unreachable");
  await site.clock.advance(15 * MINUTE_MS);
  expect(site.state(job.id)).toBe("down");
});
