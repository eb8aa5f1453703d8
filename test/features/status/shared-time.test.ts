import { expect, test } from "bun:test";
import { SHARED_STEP_MS, sharedTime } from "../../../src/features/status/histories";

const NOON = Date.parse("2026-03-10T12:00:00Z");

test("the time that nodes share is the start of the five minutes, or a later change", () => {
  const now = NOON + 4 * 60_000;
  expect(sharedTime(now, 0)).toBe(NOON);
  expect(sharedTime(now, NOON + 123)).toBe(NOON + 123);
  expect(sharedTime(NOON, NOON - 1)).toBe(NOON);
});

test("a node whose clock is behind takes the time of a change, but none after the five minutes", () => {
  expect(sharedTime(NOON + 1_000, NOON + 2_000)).toBe(NOON + 2_000);
  expect(sharedTime(NOON, NOON + 3_600_000)).toBe(NOON + SHARED_STEP_MS - 1);
});
