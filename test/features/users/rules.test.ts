import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/base/time";
import { afterWrongCode, readCode } from "../../../src/features/users/rules";

const START = Date.parse("2026-03-10T12:00:00.000Z");
const NONE = { wrongCodes: [], pauses: 0, pausedUntil: 0 };

type State = Parameters<typeof afterWrongCode>[0];

/** Counts wrong codes at these times. */
function countAll(state: State, times: readonly number[]): State {
  return times.reduce(afterWrongCode, state);
}

const ten = (at: number) => Array.from({ length: 10 }, () => at);

describe("wrong codes", () => {
  test("refuse codes with the tenth within an hour, for 15 minutes", () => {
    const nine = countAll(NONE, ten(START).slice(1));
    expect(nine.pausedUntil).toBe(0);
    const tenth = afterWrongCode(nine, START + HOUR_MS - 1);
    expect(tenth).toEqual({
      wrongCodes: [],
      pauses: 1,
      pausedUntil: START + HOUR_MS - 1 + 15 * MINUTE_MS,
    });
  });

  test("count for an hour exactly", () => {
    const nine = countAll(NONE, ten(START).slice(1));
    const after = afterWrongCode(nine, START + HOUR_MS);
    expect([after.wrongCodes, after.pausedUntil]).toEqual([[START + HOUR_MS], 0]);
  });

  test("refuse codes for twice as long each time, up to four hours", () => {
    let [state, now] = [NONE as State, START];
    const minutes: number[] = [];
    for (let time = 0; time < 7; time++) {
      state = countAll(state, ten(now));
      minutes.push((state.pausedUntil - now) / MINUTE_MS);
      now = state.pausedUntil;
    }
    expect(minutes).toEqual([15, 30, 60, 120, 240, 240, 240]);
  });

  test("begin with 15 minutes again after a day without a refusal", () => {
    const twice = countAll(countAll(NONE, ten(START)), ten(START + 15 * MINUTE_MS));
    const within = countAll(twice, ten(twice.pausedUntil + DAY_MS - 1));
    expect(within.pauses).toBe(3);
    const at = twice.pausedUntil + DAY_MS;
    const after = countAll(twice, ten(at));
    expect([after.pauses, after.pausedUntil - at]).toEqual([1, 15 * MINUTE_MS]);
  });

  test("let at most nine codes be tried within any hour without a refusal", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 20 * MINUTE_MS }), { minLength: 1, maxLength: 60 }),
        (gaps) => {
          let [state, now] = [NONE as State, START];
          const counted: number[] = [];
          for (const gap of gaps) {
            now += gap;
            if (now < state.pausedUntil) continue;
            const before = state;
            state = afterWrongCode(state, now);
            counted.push(now);
            const lastHour = counted.filter((at) => at > now - HOUR_MS).length;
            const isRefused = state.pausedUntil !== before.pausedUntil;
            expect(isRefused).toBe(state.wrongCodes.length === 0);
            // After a refusal, counting starts at zero.
            if (before.pauses === 0) expect(isRefused).toBe(lastHour >= 10);
          }
        },
      ),
    );
  });
});

describe("what someone types as a code", () => {
  test.each([
    ["123456", { code: "123456" }],
    [" 123 456 ", { code: "123456" }],
    ["123-456", { code: "123456" }],
    ["１２３４５６", { code: "123456" }],
    ["ABCD-EFGH-IJKL-MNOP", { recoveryCode: "ABCDEFGHIJKLMNOP" }],
    ["abcd efgh ijkl mn23", { recoveryCode: "ABCDEFGHIJKLMN23" }],
    ["ABCD–EFGH–IJKL–MNOP", { recoveryCode: "ABCDEFGHIJKLMNOP" }],
  ])("“%s” is read", (typed, read) => {
    expect(readCode(typed)).toEqual(read);
  });

  test.each(["", "12345", "1234567", "12345a", "ABCDEFGHIJKLMNO", "ABCDEFGHIJKLMN01", "٠١٢٣٤٥"])(
    "“%s” is no code",
    (typed) => {
      expect(readCode(typed)).toBeUndefined();
    },
  );
});
