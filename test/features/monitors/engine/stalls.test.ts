import { describe, expect, test } from "bun:test";
import { StepRecorder } from "../../../../src/egress/steps";
import { createMonitoring } from "../../../../src/features/monitors/engine/engine";
import type { CreateMonitorBody } from "../../../../src/features/monitors/wire";
import { Stalls } from "../../../../src/features/monitors/engine/stalls";
import type { ProbeContext, ProbeResult } from "../../../../src/features/monitors/monitoring";
import { MINUTE_MS, SECOND_MS } from "../../../../src/base/time";
import { createTestApp } from "../../../support/app";
import { createTestClock, settle } from "../../../support/clock";
import {
  answers,
  type EngineSite,
  fails,
  hangs,
  openEngineSite,
} from "../../../support/engine-site";
import { openReferenceTargets } from "../../../support/reference-targets";
import { until } from "../../../support/until";

const OK = { outcome: "ok", latencyMs: null, message: null } as const;
const TIMED_OUT = { outcome: "failed", latencyMs: null, message: "Timed out." } as const;

/** A monitor that is down after one failure, checked each 60 seconds, in a process that detects stalls. */
async function openSite(input: Partial<CreateMonitorBody> = {}, env: Record<string, string> = {}) {
  const site = await openEngineSite({ detectsStalls: true, env });
  const { id } = await site.monitor({ failure_threshold: 1, ...input });
  await site.clock.advance(MINUTE_MS);
  return { site, id };
}

/** Makes further checks of a host wait, each for `end` with its result. */
function hold(site: EngineSite, host = "api.test") {
  const held: PromiseWithResolvers<ProbeResult>[] = [];
  const contexts: ProbeContext[] = [];
  site.let(host, (context) => {
    const check = Promise.withResolvers<ProbeResult>();
    held.push(check);
    contexts.push(context);
    return check.promise;
  });
  return {
    contexts,
    /** Advances until a check runs. */
    async begun(): Promise<void> {
      while (held.length === 0) await site.clock.advance(250);
    },
    async end(result: ProbeResult): Promise<void> {
      held.shift()?.resolve(result);
      await settle();
    },
    count: () => held.length,
  };
}

const outcomes = (site: EngineSite, id: string) => site.checks(id).map(({ outcome }) => outcome);

/** Events between the start of a check and its failure. */
type Course = (site: EngineSite) => Promise<void>;

const COURSES: readonly { when: string; isRepeated: boolean; course: Course }[] = [
  { when: "without a stall", isRepeated: false, course: (site) => site.clock.advance(2_000) },
  {
    when: "across whose whole length the process stood still",
    isRepeated: true,
    course: async (site) => site.clock.stall(6_000),
  },
  {
    when: "in whose middle the process stood still",
    isRepeated: true,
    async course(site) {
      await site.clock.advance(1_000);
      site.clock.stall(6_000);
      await site.clock.advance(1_000);
    },
  },
  {
    when: "in whose first part the process stood still",
    isRepeated: true,
    async course(site) {
      site.clock.stall(6_000);
      await site.clock.advance(3_000);
    },
  },
  {
    when: "at whose end the process stood still, with the result read before any timer",
    isRepeated: true,
    async course(site) {
      await site.clock.advance(1_000);
      site.clock.stall(6_000);
    },
  },
  {
    when: "at whose end the process stood still, with timers run before the result is read",
    isRepeated: true,
    async course(site) {
      await site.clock.advance(1_000);
      site.clock.stall(6_000);
      await site.clock.advance(0);
    },
  },
  {
    when: "in which the process stood still for half a second",
    isRepeated: false,
    async course(site) {
      site.clock.stall(500);
      await site.clock.advance(1_000);
    },
  },
  {
    when: "in which the process stood still for 601 ms",
    isRepeated: true,
    async course(site) {
      site.clock.stall(601);
      await site.clock.advance(0);
    },
  },
  {
    when: "in which the machine was suspended and its monotonic clock with it",
    isRepeated: true,
    async course(site) {
      site.clock.setWallClock(site.clock.now() + 20_000);
      await site.clock.advance(250);
    },
  },
  {
    when: "in which the clock was set back",
    isRepeated: false,
    async course(site) {
      site.clock.setWallClock(site.clock.now() - 20_000);
      await site.clock.advance(1_000);
    },
  },
];

describe("checks and stalls", () => {
  test.each(COURSES)(
    "a failed check $when is repeated before it counts: $isRepeated",
    async ({ isRepeated, course }) => {
      const { site, id } = await openSite();
      await using _ = site;
      // An earlier result may be written later, since results are gathered.
      const from = site.clock.now();
      const later = () =>
        site.checks(id).flatMap(({ at, outcome }) => (at < from ? [] : [outcome]));
      const held = hold(site);
      await held.begun();
      await course(site);
      site.let("api.test", answers());
      await held.end(TIMED_OUT);
      expect(later()).toEqual(isRepeated ? [] : ["failed"]);
      // The check is repeated after a second, and its result is written up to a second and a half later.
      await site.clock.advance(3 * SECOND_MS);
      expect(later()[0]).toBe(isRepeated ? "ok" : "failed");
      expect(site.engine.figures().stalled).toBe(isRepeated ? 1 : 0);
      expect(site.eventTypes()).toEqual(isRepeated ? [] : ["monitor.down"]);
    },
  );

  test("a check that began after a stall counts, also if it began before any timer ran", async () => {
    const { site, id } = await openSite();
    await using _ = site;
    await site.clock.advance(5 * SECOND_MS);
    site.clock.stall(6_000);
    site.let("api.test", fails());
    const check = await site.engine.checkNow(id);
    expect(check.outcome).toBe("failed");
    expect(site.engine.figures().stalled).toBe(0);
    expect(site.state(id)).toBe("down");
  });

  test("a success during a stall is repeated too, since its response time is wrong", async () => {
    const { site, id } = await openSite({ degraded_after_ms: 1_000 });
    await using _ = site;
    const held = hold(site);
    await held.begun();
    site.clock.stall(6_000);
    site.let("api.test", answers(20));
    await held.end({ outcome: "ok", latencyMs: 6_020, message: null });
    await site.clock.advance(2 * SECOND_MS);
    expect(site.checks(id).at(-1)?.latencyMs).toBe(20);
    expect(site.state(id)).toBe("up");
  });

  test("a repeated check counts although the process stands still again", async () => {
    const { site, id } = await openSite();
    await using _ = site;
    const held = hold(site);
    await held.begun();
    site.clock.stall(6_000);
    await held.end(TIMED_OUT);
    await held.begun();
    site.clock.stall(12_000);
    await held.end(TIMED_OUT);
    expect(outcomes(site, id).at(-1)).toBe("failed");
    expect(site.state(id)).toBe("down");
    expect(site.engine.figures().stalled).toBe(1);
  });

  test("the check after a repeated one is repeated as any other", async () => {
    const { site, id } = await openSite();
    await using _ = site;
    const held = hold(site);
    for (let turn = 1; turn <= 3; turn += 1) {
      await held.begun();
      site.clock.stall(6_000);
      await held.end(TIMED_OUT);
      await held.begun();
      await held.end(OK);
      expect(site.engine.figures().stalled).toBe(turn);
    }
    expect(outcomes(site, id)).not.toContain("failed");
  });

  test("a target that is down is found down by the repetition, a second after the stall", async () => {
    const { site, id } = await openSite();
    await using _ = site;
    const held = hold(site);
    await held.begun();
    site.clock.stall(6_000);
    await held.end(TIMED_OUT);
    site.let("api.test", fails());
    await site.clock.advance(SECOND_MS);
    expect(site.state(id)).toBe("down");
    expect(site.checks(id).at(-1)?.message).toBe("The connection was refused.");
  });

  test("a machine that stands still all the time checks each target twice as often, and no more", async () => {
    const { site, id } = await openSite({ interval_seconds: 10 });
    await using _ = site;
    const before = { checks: site.checkCount(), results: outcomes(site, id).length };
    site.let("api.test", () => {
      site.clock.stall(800);
      return TIMED_OUT;
    });
    await site.clock.advance(5 * MINUTE_MS);
    const results = outcomes(site, id).length - before.results;
    expect(results).toBeGreaterThan(20);
    expect(site.engine.figures().stalled).toBeGreaterThan(20);
    expect(site.checkCount() - before.checks).toBeLessThanOrEqual(2 * (results + 1));
    expect(site.state(id)).toBe("down");
  });

  test("a caller that asks for a check during a stall gets the repeated result and its steps", async () => {
    const { site, id } = await openSite();
    await using _ = site;
    const held = hold(site);
    const steps = new StepRecorder(site.clock);
    const answer = site.engine.checkNow(id, steps);
    await settle();
    held.contexts[0]?.steps?.begin("look_up");
    site.clock.stall(6_000);
    await held.end(TIMED_OUT);
    await held.begun();
    held.contexts[1]?.steps?.add("connect", true, "192.0.2.7");
    await held.end({ outcome: "ok", latencyMs: 9, message: null });
    expect(await answer).toMatchObject({ outcome: "ok", latencyMs: 9 });
    expect(steps.steps.map(({ name }) => name)).toEqual(["connect"]);
    expect(outcomes(site, id)).not.toContain("failed");
  });

  test("a check of a form during a stall is repeated once", async () => {
    const { site } = await openSite();
    await using _ = site;
    const held = hold(site, "form.test");
    const config = { url: "https://form.test/" };
    const answer = site.engine.tryOut("http", config, 10_000);
    await settle();
    site.clock.stall(601);
    await held.end(TIMED_OUT);
    site.clock.stall(6_000);
    await held.end(OK);
    expect((await answer).outcome).toBe("ok");
    expect(held.contexts).toHaveLength(2);
  });

  test("a check of a form is answered within 70 seconds, also if it is repeated", async () => {
    const { site } = await openSite();
    await using _ = site;
    site.let("form.test", hangs());
    const answer = site.engine.tryOut("http", { url: "https://form.test/" }, 60_000);
    await site.clock.advance(50 * SECOND_MS);
    site.clock.stall(6_000);
    await site.clock.advance(14 * SECOND_MS);
    expect(site.checkCount("form.test")).toBe(2);
    let isAnswered = false;
    void answer.then(() => (isAnswered = true));
    await settle();
    expect(isAnswered).toBe(true);
    expect((await answer).outcome).toBe("failed");
  });

  test("a failure that waits for its parent during a stall is repeated with the parent's check", async () => {
    const { site, id } = await openSite();
    await using _ = site;
    const child = await site.monitor({ name: "child", failure_threshold: 1, depends_on: [id] });
    await site.clock.advance(MINUTE_MS);
    const held = hold(site);
    site.let("child.test", fails());
    const answer = site.engine.checkNow(child.id);
    await settle();
    expect(held.count()).toBe(1);
    site.clock.stall(6_000);
    site.let("child.test", answers());
    site.let("api.test", answers());
    await held.end(TIMED_OUT);
    await site.clock.advance(3 * SECOND_MS);
    expect((await answer).outcome).toBe("ok");
    expect(site.eventTypes()).toEqual([]);
    expect(site.engine.figures().stalled).toBe(2);
  });

  test("a monitor that is deleted or paused before its check is repeated has no further result", async () => {
    const { site, id } = await openSite();
    await using _ = site;
    const { pauseMonitor, resumeMonitor } =
      await import("../../../../src/features/monitors/monitors");
    const { CLI_ACTOR } = await import("../../../../src/base/actor");
    const { ctx } = site.app;
    const held = hold(site);
    await held.begun();
    site.clock.stall(6_000);
    await held.end(TIMED_OUT);
    const count = site.checkCount();
    await ctx.db.write((tx) => pauseMonitor(ctx, tx, id, CLI_ACTOR));
    await site.clock.advance(5 * SECOND_MS);
    expect(site.checkCount()).toBe(count);
    await ctx.db.write((tx) => resumeMonitor(ctx, tx, id, CLI_ACTOR));
    await held.begun();
    site.clock.stall(6_000);
    await held.end(TIMED_OUT);
    expect(outcomes(site, id)).not.toContain("failed");
    expect(site.engine.figures().stalled).toBe(2);
  });
});

test("targets are not taken for slow after a stall, so that all their checks are repeated together", async () => {
  await using site = await openEngineSite({ detectsStalls: true });
  // More than the share of running checks that slow targets may have.
  const hosts = Array.from({ length: 200 }, (_, index) => `m${index}`);
  const ids: string[] = [];
  for (const name of hosts) {
    // oxlint-disable-next-line no-await-in-loop
    ids.push((await site.monitor({ name, interval_seconds: 3_600 })).id);
  }
  await site.clock.advance(2 * MINUTE_MS);
  const held = hosts.map((name) => hold(site, `${name}.test`));
  const requests = ids.map((id) => site.engine.checkNow(id));
  await settle();
  site.clock.stall(6_000);
  for (const check of held) {
    // oxlint-disable-next-line no-await-in-loop
    await check.end(TIMED_OUT);
  }
  await site.clock.advance(1_100);
  expect(site.engine.figures()).toMatchObject({ stalled: 200, underWay: 200 });
  for (const check of held) {
    // oxlint-disable-next-line no-await-in-loop
    await check.end(OK);
  }
  expect((await Promise.all(requests)).every(({ outcome }) => outcome === "ok")).toBe(true);
});

test("targets that hang are taken for slow on a machine that stands still all the time, so that others are checked in time", async () => {
  await using site = await openEngineSite({ detectsStalls: true });
  // More than the places of all checks.
  for (let index = 0; index < 600; index += 1) {
    const name = `m${index}`;
    site.let(`${name}.test`, hangs());
    // oxlint-disable-next-line no-await-in-loop
    await site.monitor({ name, timeout_ms: 60_000 });
  }
  await site.monitor({ name: "good" });
  const stallFor = async (minutes: number) => {
    const end = site.clock.monotonic() + minutes * MINUTE_MS;
    while (site.clock.monotonic() < end) {
      // oxlint-disable-next-line no-await-in-loop
      await site.clock.advance(400);
      site.clock.stall(1_600);
    }
    return site.checkCount("good.test");
  };
  const before = await stallFor(7);
  expect((await stallFor(10)) - before).toBeGreaterThanOrEqual(9);
});

describe("stalls and the server's own network", () => {
  test("reference targets that seem unreachable after a stall are asked again", async () => {
    const clock = createTestClock();
    const stalls = new Stalls(clock);
    stalls.watch(
      () => true,
      () => {},
    );
    const answersOf = [false, true];
    const asked: string[] = [];
    const { wasLostSince } = openReferenceTargets(
      "192.0.2.1:443",
      async (host) => {
        asked.push(host);
        if (asked.length === 1) clock.stall(6_000);
        return answersOf.shift() ?? false;
      },
      { clock, stalls },
    );
    const startedAt = clock.monotonic();
    expect(await wasLostSince(startedAt)).toBe(false);
    expect(asked).toHaveLength(2);
    await clock.advance(6 * SECOND_MS);
    expect(await wasLostSince(clock.monotonic())).toBe(true);
    expect(asked).toHaveLength(3);
  });
});

const JOB = {
  name: "backup",
  type: "push",
  config: { grace_seconds: 30 },
  interval_seconds: 60,
} as const;

describe("heartbeats and stalls", () => {
  /** A job that called, 80 seconds later: its deadline is in ten seconds. */
  async function openJob(env: Record<string, string> = {}) {
    const { site, id } = await openSite(JOB, env);
    await site.engine.heartbeat(id, OK);
    await site.clock.advance(80 * SECOND_MS);
    expect(site.state(id)).toBe("up");
    return { site, id };
  }

  test("a call that waits to be read during a stall counts before the deadline is judged", async () => {
    const { site, id } = await openJob();
    await using _ = site;
    site.clock.stall(30 * SECOND_MS);
    // Timers run before the socket is read.
    await site.clock.advance(0);
    expect(site.state(id)).toBe("up");
    await site.clock.advance(4 * SECOND_MS);
    await site.engine.heartbeat(id, OK);
    await site.clock.advance(MINUTE_MS);
    expect(site.state(id)).toBe("up");
    expect(outcomes(site, id)).toEqual(["ok", "ok"]);
    await site.clock.advance(31 * SECOND_MS);
    expect(site.state(id)).toBe("down");
  });

  test("a call that is missing is judged five seconds after the end of the stall", async () => {
    const { site, id } = await openJob();
    await using _ = site;
    site.clock.stall(30 * SECOND_MS);
    await site.clock.advance(4_999);
    expect(site.state(id)).toBe("up");
    await site.clock.advance(1);
    expect(site.state(id)).toBe("down");
    expect(site.checks(id).at(-1)).toMatchObject({
      at: site.clock.now(),
      message: "No heartbeat arrived in time.",
    });
    expect(site.engine.figures().stalled).toBe(0);
  });

  test("a deadline just after a stall waits for its five seconds, a later one for nothing", async () => {
    const { site, id } = await openJob();
    await using _ = site;
    site.clock.stall(9 * SECOND_MS);
    await site.clock.advance(4_900);
    expect(site.state(id)).toBe("up");
    await site.clock.advance(100);
    expect(site.state(id)).toBe("down");
    const other = await openJob();
    await using __ = other.site;
    other.site.clock.stall(4 * SECOND_MS);
    await other.site.clock.advance(5_999);
    expect(other.site.state(other.id)).toBe("up");
    await other.site.clock.advance(1);
    expect(other.site.state(other.id)).toBe("down");
  });

  test("a run without an end and a call by schedule wait for the end of a stall too", async () => {
    const config = { schedule: "* * * * *", grace_seconds: 30 };
    for (const [input, signal] of [
      [
        { ...JOB, interval_seconds: null },
        { kind: "start", message: null },
      ],
      [{ ...JOB, interval_seconds: null, config }, OK],
    ] as const) {
      const { site, id } = await openSite(input);
      await using _ = site;
      await site.engine.heartbeat(id, OK);
      if ("kind" in signal) await site.engine.heartbeat(id, signal);
      await site.clock.advance("kind" in signal ? 25_000 : 85_000);
      site.clock.stall(20 * SECOND_MS);
      await site.clock.advance(4_999);
      expect(site.state(id)).toBe("up");
      await site.clock.advance(1);
      expect(site.state(id)).toBe("down");
    }
  });

  test("a missing call counts a minute after its deadline although stalls go on", async () => {
    const { site, id } = await openJob();
    await using _ = site;
    const deadline = site.clock.monotonic() + 10 * SECOND_MS;
    for (let last = site.state(id); last === "up"; last = site.state(id)) {
      site.clock.stall(1_500);
      await site.clock.advance(500);
      if (site.clock.monotonic() - deadline > 2 * MINUTE_MS) break;
    }
    expect(site.state(id)).toBe("down");
    const late = site.clock.monotonic() - deadline;
    expect(late).toBeGreaterThanOrEqual(MINUTE_MS);
    expect(late).toBeLessThanOrEqual(MINUTE_MS + 2 * SECOND_MS);
  });

  test("a call that comes while a missed deadline is judged during a stall counts", async () => {
    const { site, id } = await openJob({ ALLCLEAR_REFERENCE_TARGETS: "192.0.2.1:443" });
    await using _ = site;
    const asking = Promise.withResolvers<void>();
    site.reaching = asking.promise;
    await site.clock.advance(10 * SECOND_MS);
    expect(site.engine.figures().underWay).toBe(1);
    site.clock.stall(6_000);
    asking.resolve();
    await settle();
    expect(site.state(id)).toBe("up");
    await site.engine.heartbeat(id, OK);
    await site.clock.advance(30 * SECOND_MS);
    expect(outcomes(site, id)).toEqual(["ok", "ok"]);
  });
});

describe("stalls and times in which the server was offline", () => {
  test.each([
    [30, false],
    [44, false],
    [46, true],
    [60, true],
  ])("a stall of %d seconds leads to no_data: %p", async (seconds, isOffline) => {
    const { site, id } = await openSite();
    await using _ = site;
    // Just before the next regular look at the liveness, which is every 15 seconds.
    await site.clock.advance(14 * SECOND_MS);
    site.clock.stall(seconds * SECOND_MS);
    await site.clock.advance(2 * MINUTE_MS);
    const states = site.timeline(id).map((span) => span.replace(/ .*/, ""));
    expect(states.includes("no_data")).toBe(isOffline);
    expect(site.eventTypes()).toEqual([]);
    expect(site.state(id)).toBe("up");
  });

  test.each([30, 60])(
    "a check and a deadline within a stall of %d seconds lead to no alarm",
    async (seconds) => {
      const { site, id } = await openSite();
      await using _ = site;
      const job = await site.monitor({ ...JOB, failure_threshold: 1 });
      await site.clock.advance(SECOND_MS);
      await site.engine.heartbeat(job.id, OK);
      await site.clock.advance(80 * SECOND_MS);
      const held = hold(site);
      const answer = site.engine.checkNow(id);
      await settle();
      site.clock.stall(seconds * SECOND_MS);
      site.let("api.test", answers());
      await held.end(TIMED_OUT);
      await site.clock.advance(SECOND_MS);
      await site.engine.heartbeat(job.id, OK);
      expect((await answer).outcome).toBe("ok");
      await site.clock.advance(80 * SECOND_MS);
      expect(site.eventTypes()).toEqual([]);
      expect([site.state(id), site.state(job.id)]).toEqual(["up", "up"]);
      expect(site.engine.figures().stalled).toBe(1);
    },
  );
});

describe("a machine that is too busy", () => {
  function watched() {
    const clock = createTestClock();
    const stalls = new Stalls(clock);
    stalls.watch(
      () => true,
      () => {},
    );
    return { clock, stalls };
  }

  test("stalls that follow each other for a minute make the machine too busy, until five seconds without one", async () => {
    const { clock, stalls } = watched();
    await clock.advance(10 * SECOND_MS);
    const begin = clock.monotonic();
    while (clock.monotonic() - begin < 50 * SECOND_MS) {
      clock.stall(SECOND_MS);
      await clock.advance(3 * SECOND_MS);
      expect(stalls.isTooBusy).toBe(false);
    }
    for (let more = 0; more < 4; more += 1) {
      clock.stall(SECOND_MS);
      await clock.advance(3 * SECOND_MS);
    }
    expect(stalls.isTooBusy).toBe(true);
    await clock.advance(2 * SECOND_MS);
    expect(stalls.isTooBusy).toBe(true);
    await clock.advance(1);
    expect(stalls.isTooBusy).toBe(false);
  });

  test.each([
    ["one long stall", [120]],
    ["stalls far from each other", [20, 20, 20, 20, 20, 20]],
  ] as const)("%s does not make the machine too busy", async (_what, lengths) => {
    const { clock, stalls } = watched();
    for (const length of lengths) {
      clock.stall(length * SECOND_MS);
      expect(stalls.isTooBusy).toBe(false);
      await clock.advance(6 * SECOND_MS);
      expect(stalls.isTooBusy).toBe(false);
    }
  });

  test("turns of half a second do not make the machine too busy", async () => {
    const { clock, stalls } = watched();
    for (let turn = 0; turn < 300; turn += 1) {
      clock.stall(500);
      await clock.advance(0);
    }
    expect(stalls.isTooBusy).toBe(false);
  });
});

test("POST /check during a stall answers with the repeated result and its steps", async () => {
  const clock = createTestClock();
  let checks = 0;
  const run = async (_config: object, { steps }: ProbeContext): Promise<ProbeResult> => {
    checks += 1;
    steps?.begin("connect", `attempt ${checks}`);
    if (checks > 1) return { outcome: "ok", latencyMs: 12, message: null };
    clock.stall(12 * SECOND_MS);
    return TIMED_OUT;
  };
  let engine: ReturnType<typeof createMonitoring> | undefined;
  await using app = await createTestApp({
    clock,
    monitoring: (ctx) => {
      const options = { findProbe: () => ({ run }), detectsStalls: true };
      return (engine = createMonitoring(ctx, undefined, options));
    },
  });
  engine?.start();
  const key = await app.keyWith("manage:monitors", "read:status");
  const json = {
    type: "http",
    name: "Shop",
    config: { url: "https://shop.test/" },
    failure_threshold: 1,
  };
  const { body } = await app.call("/api/v1/monitors", { key, method: "POST", json });
  const path = `/api/v1/monitors/${body.id}`;
  const answer = app.call(`${path}/check`, { key, method: "POST" });
  await until(() => checks === 1);
  await clock.advance(SECOND_MS);
  const check = (await answer).body;
  expect(check).toMatchObject({ outcome: "ok", latency_ms: 12 });
  expect(check.steps.map(({ detail }: { detail: string }) => detail)).toEqual(["attempt 2"]);
  expect((await app.call(path, { key })).body.state).toBe("up");
  expect((await app.call(`${path}/checks`, { key })).body.data).toHaveLength(1);
  await engine?.stop();
});
