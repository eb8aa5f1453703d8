import { expect, test } from "bun:test";
import { knowsKeys } from "../../src/fleet/shared-memory";
import { createTestClock } from "../support/clock";
import { leaderRecord } from "../support/fleet/leader";

test("a replica does not accept keys by listings of a log that the record no longer names", () => {
  const clock = createTestClock();
  const confirmed = { confirmedAt: clock.monotonic() };
  const knows = (prefix: string) =>
    knowsKeys(
      clock,
      { confirmed: () => confirmed, prefix: () => "term-000001-1" } as never,
      { record: () => leaderRecord({ prefix }) } as never,
      undefined,
    );
  expect(knows("term-000001-1")).toBe(true);
  expect(knows("term-000002-1")).toBe(false);
});
