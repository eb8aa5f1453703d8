import { expect, test } from "bun:test";
import { appendFileSync } from "node:fs";

/** File to which a long run appends its figures; undefined in short runs. Set by `bun test/long.ts`. */
const REPORT = process.env["ALLCLEAR_LONG_REPORT"];

/** True if `bun test/long.ts` runs the tests. */
export const IS_LONG_RUN = REPORT !== undefined;

/**
 * Test that mostly waits. In short runs, adjacent ones of a file run at the same time. In long runs each runs alone, for
 * its figures.
 */
export const waitingTest = IS_LONG_RUN ? test : test.concurrent;

/** Largest number of rounds of a long run. Set by `--rounds`. */
const ROUNDS_MAX = Number(process.env["ALLCLEAR_LONG_ROUNDS"] ?? Infinity);

/** Returns the number of rounds of a test: few in CI, all in a long run. */
export function rounds(few: number, all: number): number {
  return IS_LONG_RUN ? Math.min(all, ROUNDS_MAX) : few;
}

/** Returns a time in ms, such as the length of a pause or the limit of a test, in short and in long runs. */
export function durationMs(short: number, long: number): number {
  return IS_LONG_RUN ? long : short;
}

/**
 * Expects a promised time in long runs, which have the machine for themselves. In short runs only the outcome counts, since
 * any time can pass on a busy machine.
 */
export function expectWithin(ms: number, promisedMs: number): void {
  if (IS_LONG_RUN) expect(ms).toBeLessThanOrEqual(promisedMs);
}

/** Records the figures of a test, such as `{ runs: 50, lost: 0, backMaxMs: 900 }`. */
export function report(test: string, figures: Readonly<Record<string, number | string>>): void {
  if (REPORT === undefined) return;
  const text = Object.entries(figures).map(([name, value]) => `${name} ${value}`);
  appendFileSync(REPORT, `${test}: ${text.join(", ")}\n`);
}
