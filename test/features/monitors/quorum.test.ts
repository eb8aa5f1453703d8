import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { DOWN_WHEN, type DownWhen } from "../../../src/base/status";
import {
  agreementOf,
  type AtLocation,
  evaluateQuorum,
} from "../../../src/features/monitors/quorum";
import { newEvaluation } from "../../../src/features/monitors/rules";

const NOW = 12;

const arbitraryLocation = fc
  .record({
    state: fc.constantFrom(
      ...(["up", "degraded", "down", "unreachable", "pending", "maintenance", "no_data"] as const),
    ),
    since: fc.integer({ min: 0, max: NOW }),
    failures: fc.integer({ min: 0, max: 2 }),
  })
  .map(({ state, since, failures }): AtLocation => {
    const isStreak = failures > 0 && state !== "down" && state !== "no_data";
    return {
      state,
      since,
      failures: isStreak ? failures : 0,
      failingSince: isStreak ? since : null,
    };
  });

const arbitraryLocations = fc.array(arbitraryLocation, { minLength: 1, maxLength: 5 });

/** Returns how many of the locations that count were in trouble at a time, and how many are needed. */
function countAt(
  t: number,
  locations: readonly AtLocation[],
  downWhen: DownWhen,
  isTroubled: (each: AtLocation) => boolean,
): { troubled: number; needed: number } {
  let counted = 0;
  let troubled = 0;
  for (const each of locations) {
    if (each.state === "no_data" && each.since <= t) continue;
    counted += 1;
    if (each.state !== "no_data" && isTroubled(each)) troubled += 1;
  }
  // Two of three, three of four and five: more than half.
  const half = [0, 1, 2, 2, 3, 3][counted] ?? 0;
  return { troubled, needed: { any: 1, majority: half, all: counted }[downWhen] };
}

/** Returns the first time since which something has held until now, by trying all times. */
function firstTime(holds: (t: number) => boolean): number {
  let first = NOW;
  for (let t = NOW; t >= 0 && holds(t); t -= 1) first = t;
  return first;
}

describe("what locations agree on", () => {
  test("is the state that enough of those that count see, since they have", () => {
    fc.assert(
      fc.property(arbitraryLocations, fc.constantFrom(...DOWN_WHEN), (locations, downWhen) => {
        const { state, since, failingSince } = agreementOf(locations, downWhen);
        const known = locations.filter((each) => each.state !== "no_data");
        const isOne = (states: readonly string[]) => (each: AtLocation) =>
          states.includes(each.state);
        const enough = (isTroubled: (each: AtLocation) => boolean, t = NOW) => {
          const { troubled, needed } = countAt(t, locations, downWhen, isTroubled);
          return troubled > 0 && troubled >= needed;
        };
        const down = isOne(["down"]);
        const out = isOne(["down", "unreachable"]);
        const bad = isOne(["down", "degraded"]);
        const good = isOne(["up", "degraded"]);
        const failing = (each: AtLocation) => out(each) || each.failures > 0;
        const begun = (each: AtLocation) => each.failingSince ?? each.since;
        if (known.length === 0) expect(state).toBe("no_data");
        else if (enough(down)) {
          expect(state).toBe("down");
          expect(since).toBe(firstTime((t) => enough((each) => down(each) && each.since <= t, t)));
        } else if (enough(out)) expect(state).toBe("undecided");
        else if (enough(bad)) {
          expect(state).toBe("degraded");
          expect(since).toBe(firstTime((t) => enough((each) => bad(each) && each.since <= t, t)));
        } else if (known.some(good)) {
          expect(state).toBe("up");
          const isWell = (t: number) =>
            known.some((each) => good(each) && each.since <= t) &&
            !enough((each) => out(each) || (good(each) && each.since > t), t);
          // Dated from an answer, not from before all of them.
          expect(since).toBe(firstTime(isWell));
        } else expect(state).toBe("undecided");
        expect(failingSince !== undefined).toBe(enough(failing));
        if (failingSince !== undefined) {
          const first = firstTime((t) => enough((each) => failing(each) && begun(each) <= t, t));
          expect(failingSince).toBe(first);
        }
      }),
      { numRuns: 5_000 },
    );
  });

  test("is down of two locations only if both are, by default", () => {
    const at = (state: AtLocation["state"], since: number): AtLocation => ({
      state,
      since,
      failures: 0,
      failingSince: null,
    });
    expect(agreementOf([at("down", 3), at("up", 0)], "majority").state).toBe("up");
    expect(agreementOf([at("down", 3), at("up", 0)], "any")).toMatchObject({
      state: "down",
      since: 3,
    });
    expect(agreementOf([at("down", 3), at("down", 5)], "majority")).toMatchObject({
      state: "down",
      since: 5,
    });
    // The other one has said nothing since 9.
    expect(agreementOf([at("down", 3), at("no_data", 9)], "majority")).toMatchObject({
      state: "down",
      since: 9,
    });
  });
});

describe("the evaluation of all locations together", () => {
  const circumstances = { at: 100, notBefore: 0, isInMaintenance: false };
  const agreed = { state: "down", since: 50, failingSince: 50 } as const;

  test("dates a trouble from its beginning, but not from before the last change of its locations", () => {
    const before = newEvaluation("up", 10);
    expect(evaluateQuorum(before, agreed, circumstances)).toEqual(newEvaluation("down", 50));
    expect(evaluateQuorum(before, agreed, { ...circumstances, notBefore: 80 })).toEqual(
      newEvaluation("down", 100),
    );
  });

  test("never loses a known state, which lasts a millisecond at least", () => {
    const before = newEvaluation("up", 70);
    expect(evaluateQuorum(before, agreed, { ...circumstances, at: 60 })).toEqual(
      newEvaluation("down", 71),
    );
  });

  test("is unreachable with a failing parent as soon as enough locations fail", () => {
    const failing = { state: "up", since: 0, failingSince: 90 } as const;
    const before = newEvaluation("up", 10);
    expect(evaluateQuorum(before, failing, { ...circumstances, failingParent: "mon_a" })).toEqual({
      ...newEvaluation("unreachable", 90),
      unreachableVia: "mon_a",
    });
    expect(evaluateQuorum(before, failing, circumstances)).toEqual({
      ...before,
      failures: 1,
      failingSince: 90,
    });
  });

  test("is pending after maintenance while its locations are undecided, and else keeps its state", () => {
    const undecided = { state: "undecided", since: 0, failingSince: undefined } as const;
    const maintenance = newEvaluation("maintenance", 20);
    expect(evaluateQuorum(maintenance, undecided, circumstances)).toEqual(
      newEvaluation("pending", 100),
    );
    const down = newEvaluation("down", 20);
    expect(evaluateQuorum(down, undecided, circumstances)).toBe(down);
    expect(evaluateQuorum(down, undecided, { ...circumstances, isInMaintenance: true })).toEqual(
      newEvaluation("maintenance", 100),
    );
  });
});
