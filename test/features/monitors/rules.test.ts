import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  evaluateCheck,
  newEvaluation,
  type Observation,
  type Evaluation,
  type Thresholds,
  type Transition,
} from "../../../src/features/monitors/rules";
import { MONITOR_STATES } from "../../../src/kernel/monitor-state";

const THRESHOLDS: Thresholds = { failureThreshold: 3, successThreshold: 2, degradedAfterMs: 500 };
const QUICK = 40;
const SLOW = 900;

/** `.` quick, `s` slow, `x` failed, `?` unknown, `m` quick while under maintenance; ten seconds apart. */
function run(marks: string, from = newEvaluation("pending", 0), thresholds = THRESHOLDS) {
  let evaluation = from;
  const transitions: string[] = [];
  let needsRecheck = false;
  for (const [index, mark] of Array.from(marks).entries()) {
    const result = evaluateCheck(evaluation, observe(mark, index * 10), thresholds, mark === "m");
    evaluation = result.evaluation;
    needsRecheck = result.needsRecheck;
    if (result.transition) transitions.push(told(result.transition));
  }
  return { evaluation, transitions, needsRecheck };
}

function observe(mark: string, at: number): Observation {
  if (mark === "x") return { at, outcome: "failed", latencyMs: null };
  if (mark === "?") return { at, outcome: "unknown", latencyMs: null };
  return { at, outcome: "ok", latencyMs: mark === "s" ? SLOW : QUICK };
}

function told({ from, to, at }: Transition): string {
  return `${from} → ${to} at ${at}`;
}

describe("a monitor", () => {
  test("is up with the first check that answers", () => {
    expect(run(".").transitions).toEqual(["pending → up at 0"]);
  });

  test("is down after as many failures in a row as its threshold, dated from the first of them", () => {
    expect(run("..xx.xxx").transitions).toEqual(["pending → up at 0", "up → down at 50"]);
    expect(run("..xx").transitions).toEqual(["pending → up at 0"]);
  });

  test("that never answered is down from its first failure on", () => {
    expect(run("xxx").transitions).toEqual(["pending → down at 0"]);
  });

  test("is up again after as many successes in a row as its threshold, dated from the first", () => {
    expect(run(".xxx.x..").transitions).toEqual([
      "pending → up at 0",
      "up → down at 10",
      "down → up at 60",
    ]);
  });

  test("is degraded by slow answers in a row and comes back by quick ones", () => {
    expect(run(".ss.sss.s..").transitions).toEqual([
      "pending → up at 0",
      "up → degraded at 40",
      "degraded → up at 90",
    ]);
  });

  test("that answers slowly after an outage is no longer down", () => {
    expect(run(".xxxsss").transitions).toEqual([
      "pending → up at 0",
      "up → down at 10",
      "down → up at 40",
      "up → degraded at 40",
    ]);
  });

  test("is neither up nor down while the server could not know, and then counts from nothing", () => {
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

  test("counts nothing under maintenance, and from nothing afterwards", () => {
    expect(run(".xxmxx.").transitions).toEqual([
      "pending → up at 0",
      "up → maintenance at 30",
      "maintenance → pending at 40",
      "pending → up at 60",
    ]);
  });

  test("should be looked at again soon while a streak has not decided, and only then", () => {
    expect(run(".").needsRecheck).toBe(false);
    expect(run(".x").needsRecheck).toBe(true);
    expect(run(".xxx").needsRecheck).toBe(false);
    expect(run(".xxx.").needsRecheck).toBe(true);
    expect(run(".xxx..").needsRecheck).toBe(false);
    expect(run(".s").needsRecheck).toBe(true);
    expect(run(".sss").needsRecheck).toBe(false);
  });

  test("that is as it was keeps its very standing, so that nothing needs to be written", () => {
    for (const steady of [".", ".sss", ".xxx"]) {
      const { evaluation } = run(steady);
      const next = observe(steady.at(-1) ?? "", 1_000);
      expect(evaluateCheck(evaluation, next, THRESHOLDS, false).evaluation).toBe(evaluation);
    }
  });

  test("dates nothing before its present state, wherever the clock was set", () => {
    const up = newEvaluation("up", 5_000);
    const result = evaluateCheck(
      up,
      observe("x", 10),
      { ...THRESHOLDS, failureThreshold: 1 },
      false,
    );
    expect(result.transition).toEqual({ from: "up", to: "down", at: 5_000 });
  });

  test("whatever comes: times never run backwards and every change of state is told", () => {
    const marks = fc.array(fc.constantFrom(".", "s", "x", "?", "m"), { maxLength: 60 });
    const thresholds = fc.record({
      failureThreshold: fc.integer({ min: 1, max: 4 }),
      successThreshold: fc.integer({ min: 1, max: 4 }),
      degradedAfterMs: fc.constantFrom(null, 500),
    });
    const start = fc.constantFrom(...MONITOR_STATES.filter((state) => state !== "paused"));
    fc.assert(
      fc.property(marks, thresholds, start, (sequence, limits, state) => {
        let evaluation: Evaluation = newEvaluation(state, 0);
        for (const [index, mark] of sequence.entries()) {
          const before = evaluation;
          const { transition, evaluation: after } = evaluateCheck(
            before,
            observe(mark, index * 10),
            limits,
            mark === "m",
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
