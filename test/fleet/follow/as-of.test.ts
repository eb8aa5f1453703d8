import { expect, test } from "bun:test";
import { createAsOf } from "../../../src/fleet/follow/follow";

const listing = (at: number, newest: number) => ({
  startedAt: 1_000 + at,
  startedMonotonic: at,
  newest,
  isPartial: false,
});

test("a replica is complete as of the begin of a listing whose transactions are all applied", () => {
  const asOf = createAsOf();
  expect(asOf.confirmed()).toEqual({ asOf: undefined, confirmedAt: undefined });
  asOf.listed(listing(1, 7), true);
  asOf.applied(6);
  expect(asOf.confirmed().asOf).toBeUndefined();
  asOf.applied(7);
  expect(asOf.confirmed()).toEqual({ asOf: 1_001, confirmedAt: 1 });
  asOf.listed(listing(2, 7), true);
  expect(asOf.confirmed()).toEqual({ asOf: 1_002, confirmedAt: 2 });
});

test("a later listing with more transactions does not hide an earlier one", () => {
  const asOf = createAsOf();
  asOf.listed(listing(1, 7), true);
  asOf.listed(listing(2, 9), true);
  asOf.applied(8);
  expect(asOf.confirmed().asOf).toBe(1_001);
  asOf.applied(9);
  expect(asOf.confirmed().asOf).toBe(1_002);
});

test("a listing without a living primary confirms what is stored and not what is current", () => {
  const asOf = createAsOf();
  asOf.applied(7);
  asOf.listed(listing(1, 7), true);
  asOf.listed(listing(2, 7), false);
  expect(asOf.confirmed()).toEqual({ asOf: 1_001, confirmedAt: 2 });
});

test("the log of another primary is confirmed by its own listings alone", () => {
  const asOf = createAsOf();
  asOf.listed(listing(1, 7), true);
  asOf.applied(7);
  asOf.listed(listing(2, 9), true);
  asOf.restart();
  asOf.applied(12);
  expect(asOf.confirmed()).toEqual({ asOf: 1_001, confirmedAt: undefined });
  asOf.listed(listing(3, 12), true);
  expect(asOf.confirmed()).toEqual({ asOf: 1_003, confirmedAt: 3 });
});
