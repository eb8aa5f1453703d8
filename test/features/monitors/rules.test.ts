import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  evaluateCheck,
  isFailing,
  newEvaluation,
  type Evaluation,
  type Thresholds,
} from "../../../src/features/monitors/rules";
import { MONITOR_STATES } from "../../../src/base/status";

const THRESHOLDS: Thresholds = { failureThreshold: 3, successThreshold: 2, degradedAfterMs: 500 };
const QUICK = 40;
const SLOW = 900;

/** `.` quick, `s` slow, `x` failed, `?` unknown, `m` quick while under maintenance; ten seconds apart. */
function run(letters: string, from = newEvaluation("pending", 0), thresholds = THRESHOLDS) {
  let evaluation = from;
  const transitions: string[] = [];
  let needsRecheck = false;
  for (const [index, letter] of Array.from(letters).entries()) {
    const result = evaluateCheck(
      evaluation,
      observe(letter, index * 10),
      thresholds,
      letter === "m",
    );
    evaluation = result.evaluation;
    needsRecheck = result.needsRecheck;
    if (result.transition) transitions.push(textOf(result.transition));
  }
  return { evaluation, transitions, needsRecheck };
}

function observe(letter: string, at: number): Parameters<typeof evaluateCheck>[1] {
  if (letter === "x") return { at, outcome: "failed", latencyMs: null };
  if (letter === "?") return { at, outcome: "unknown", latencyMs: null };
  return { at, outcome: "ok", latencyMs: letter === "s" ? SLOW : QUICK };
}

function textOf(transition: NonNullable<ReturnType<typeof evaluateCheck>["transition"]>): string {
  const { from, to, at } = transition;
  return `${from} → ${to} at ${at}`;
}

describe("states of a monitor", () => {
  test("a pending monitor is up after its first successful check", () => {
    expect(run(".").transitions).toEqual(["pending → up at 0"]);
  });

  test("a monitor is down after as many consecutive failures as its threshold, dated from the first", () => {
    expect(run("..xx.xxx").transitions).toEqual(["pending → up at 0", "up → down at 50"]);
    expect(run("..xx").transitions).toEqual(["pending → up at 0"]);
  });

  test("a monitor without any success is down from its first failure", () => {
    expect(run("xxx").transitions).toEqual(["pending → down at 0"]);
  });

  test("a monitor is up again after as many consecutive successes as its threshold, dated from the first", () => {
    expect(run(".xxx.x..").transitions).toEqual([
      "pending → up at 0",
      "up → down at 10",
      "down → up at 60",
    ]);
  });

  test("a monitor is degraded after consecutive slow responses and up after fast ones", () => {
    expect(run(".ss.sss.s..").transitions).toEqual([
      "pending → up at 0",
      "up → degraded at 40",
      "degraded → up at 90",
    ]);
  });

  test("a monitor that responds slowly after an outage is up, then degraded", () => {
    expect(run(".xxxsss").transitions).toEqual([
      "pending → up at 0",
      "up → down at 10",
      "down → up at 40",
      "up → degraded at 40",
    ]);
  });

  test("a monitor has no_data after an unknown result and then counts from zero", () => {
    expect(run(".xx?xx.").transitions).toEqual([
      "pending → up at 0",
      "up → no_data at 30",
      "no_data → pending at 40",
      "pending → up at 60",
    ]);
    expect(run(".?xxx").transitions).toEqual([
      "pending → up at 0",
      "up → no_data at 10",
      "no_data → pending at 20",
      "pending → down at 20",
    ]);
  });

  test("a monitor in maintenance counts no results and counts from zero afterwards", () => {
    expect(run(".xxmxx.").transitions).toEqual([
      "pending → up at 0",
      "up → maintenance at 30",
      "maintenance → pending at 40",
      "pending → up at 60",
    ]);
  });

  test("a monitor needs a recheck only while a series of results is below its threshold", () => {
    expect(run(".").needsRecheck).toBe(false);
    expect(run(".x").needsRecheck).toBe(true);
    expect(run(".xxx").needsRecheck).toBe(false);
    expect(run(".xxx.").needsRecheck).toBe(true);
    expect(run(".xxx..").needsRecheck).toBe(false);
    expect(run(".s").needsRecheck).toBe(true);
    expect(run(".sss").needsRecheck).toBe(false);
  });

  test("an unchanged monitor keeps the same evaluation object", () => {
    for (const steady of [".", ".sss", ".xxx"]) {
      const { evaluation } = run(steady);
      const next = observe(steady.at(-1) ?? "", 1_000);
      expect(evaluateCheck(evaluation, next, THRESHOLDS, false).evaluation).toBe(evaluation);
    }
  });

  test("a transition is not dated before the current state", () => {
    const up = newEvaluation("up", 5_000);
    const result = evaluateCheck(
      up,
      observe("x", 10),
      { ...THRESHOLDS, failureThreshold: 1 },
      false,
    );
    expect(result.transition).toEqual({ from: "up", to: "down", at: 5_000 });
  });

  test("transitions of any series of results have ascending times and match the changes of state", () => {
    const letters = fc.array(fc.constantFrom(".", "s", "x", "?", "m"), { maxLength: 60 });
    const thresholds = fc.record({
      failureThreshold: fc.integer({ min: 1, max: 4 }),
      successThreshold: fc.integer({ min: 1, max: 4 }),
      degradedAfterMs: fc.constantFrom(null, 500),
    });
    const start = fc.constantFrom(...MONITOR_STATES.filter((state) => state !== "paused"));
    fc.assert(
      fc.property(letters, thresholds, start, (sequence, limits, state) => {
        let evaluation: Evaluation = newEvaluation(state, 0);
        for (const [index, letter] of sequence.entries()) {
          const before = evaluation;
          const { transition, evaluation: after } = evaluateCheck(
            before,
            observe(letter, index * 10),
            limits,
            letter === "m",
          );
          expect(transition !== undefined).toBe(after.state !== before.state);
          expect(after.since).toBeGreaterThanOrEqual(before.since);
          expect(after.since).toBeLessThanOrEqual(index * 10);
          if (transition) expect(transition.at).toBe(after.since);
          expect([after.failures, after.slow, after.successes].every((n) => n >= 0)).toBe(true);
          evaluation = after;
        }
      }),
    );
  });
});

/** Like `run`; a capital `X` is a failed check while a parent is failing. */
function runBelow(letters: string, from = newEvaluation("pending", 0)) {
  let evaluation = from;
  const transitions: string[] = [];
  for (const [index, letter] of Array.from(letters).entries()) {
    const observation = observe(letter.toLowerCase(), index * 10);
    const parent = letter === "X" ? "mon_router" : undefined;
    const result = evaluateCheck(evaluation, observation, THRESHOLDS, letter === "m", parent);
    evaluation = result.evaluation;
    if (result.transition) transitions.push(textOf(result.transition));
  }
  return { evaluation, transitions };
}

describe("states of a monitor that depends on others", () => {
  test("a failure while a parent is failing makes a monitor unreachable at once, through that parent", () => {
    const { transitions, evaluation } = runBelow("..X");
    expect(transitions).toEqual(["pending → up at 0", "up → unreachable at 20"]);
    expect(evaluation.unreachableVia).toBe("mon_router");
  });

  test("an unreachable time starts with the first failed check, also if the parent failed later", () => {
    expect(runBelow("..xX").transitions).toEqual(["pending → up at 0", "up → unreachable at 20"]);
  });

  test("a success while a parent is failing counts as usual", () => {
    const slowest = { ...THRESHOLDS, successThreshold: 1 };
    const { evaluation } = evaluateCheck(
      newEvaluation("up", 0),
      observe(".", 10),
      slowest,
      false,
      "mon_router",
    );
    expect(evaluation.state).toBe("up");
  });

  test("failures are counted from zero when no parent is failing, and the outage starts with the first of all", () => {
    expect(runBelow(".XXXXxx").transitions).toEqual([
      "pending → up at 0",
      "up → unreachable at 10",
    ]);
    expect(runBelow(".XXXXxxx").transitions).toEqual([
      "pending → up at 0",
      "up → unreachable at 10",
      "unreachable → down at 10",
    ]);
    expect(runBelow(".XxxXxx").transitions).toEqual([
      "pending → up at 0",
      "up → unreachable at 10",
    ]);
  });

  test("an unreachable monitor is up after as many successes as its threshold, dated from the first", () => {
    expect(runBelow(".XXX..").transitions).toEqual([
      "pending → up at 0",
      "up → unreachable at 10",
      "unreachable → up at 40",
    ]);
    expect(runBelow(".XXX..").evaluation.unreachableVia).toBeNull();
  });

  test("a success in between starts the outage with the failure after it", () => {
    expect(runBelow(".XX.xxx").transitions).toEqual([
      "pending → up at 0",
      "up → unreachable at 10",
      "unreachable → down at 40",
    ]);
  });

  test("a monitor that is down becomes unreachable, and is down again from then on if the failure stays", () => {
    expect(runBelow("xxxXXxxx").transitions).toEqual([
      "pending → down at 0",
      "down → unreachable at 30",
      "unreachable → down at 30",
    ]);
  });

  test("during maintenance and after an unknown result, an unreachable monitor is not unreachable", () => {
    expect(runBelow(".Xm").transitions.at(-1)).toBe("unreachable → maintenance at 20");
    expect(runBelow(".X?").transitions.at(-1)).toBe("unreachable → no_data at 20");
    expect(runBelow("mX").transitions.at(-1)).toBe("maintenance → unreachable at 10");
  });

  test("another parent takes over without a change of state", () => {
    const first = runBelow(".X").evaluation;
    const next = evaluateCheck(first, observe("x", 20), THRESHOLDS, false, "mon_switch");
    expect(next.transition).toBeUndefined();
    expect(next.evaluation).toMatchObject({
      state: "unreachable",
      since: 10,
      unreachableVia: "mon_switch",
    });
  });

  test("a monitor that stays unreachable keeps the same evaluation object", () => {
    const { evaluation } = runBelow(".X");
    const next = evaluateCheck(evaluation, observe("x", 20), THRESHOLDS, false, "mon_router");
    expect(next.evaluation).toBe(evaluation);
  });

  test("a parent is failing if it is down or unreachable or has failures that are not confirmed", () => {
    for (const state of MONITOR_STATES) {
      const evaluation = newEvaluation(state, 0);
      const isOut = state === "down" || state === "unreachable";
      expect(isFailing(evaluation, undefined), state).toBe(isOut);
      const counting = { ...evaluation, failures: 1, failingSince: 0 };
      if (state !== "maintenance") expect(isFailing(counting, "failed"), state).toBe(true);
    }
    expect(isFailing(newEvaluation("maintenance", 0), "failed")).toBe(true);
    expect(isFailing(newEvaluation("maintenance", 0), "ok")).toBe(false);
  });

  test("for any results, a monitor is down only after enough failures without a failing parent, and an outage never starts after them", () => {
    const letters = fc.array(fc.constantFrom(".", "s", "x", "X", "?", "m"), { maxLength: 60 });
    fc.assert(
      fc.property(letters, (sequence) => {
        let evaluation = newEvaluation("pending", 0);
        let own = 0;
        for (const [index, letter] of sequence.entries()) {
          const before = evaluation;
          const observation = observe(letter.toLowerCase(), index * 10);
          const parent = letter === "X" ? "mon_router" : undefined;
          const result = evaluateCheck(before, observation, THRESHOLDS, letter === "m", parent);
          evaluation = result.evaluation;
          const wasDown = before.state === "down";
          own = letter === "x" ? own + 1 : 0;
          // Unreachable exactly through the parent that is failing, as long as checks fail.
          if (letter === "X") {
            expect(evaluation).toMatchObject({
              state: "unreachable",
              unreachableVia: "mon_router",
              failures: 0,
            });
          }
          if (evaluation.state !== "unreachable") expect(evaluation.unreachableVia).toBeNull();
          if (evaluation.state === "down" && !wasDown) {
            expect(own).toBeGreaterThanOrEqual(THRESHOLDS.failureThreshold);
            expect(evaluation.since).toBeLessThanOrEqual((index - 2) * 10);
          }
          expect(evaluation.since).toBeGreaterThanOrEqual(before.since);
        }
      }),
    );
  });
});
