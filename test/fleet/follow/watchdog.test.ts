import { describe, expect, test } from "bun:test";
import type { Readability } from "../../../src/db/followed-database";
import { neededRepair } from "../../../src/fleet/follow/follow";

const READABLE: Readability = {
  reason: undefined,
  since: undefined,
  unsettled: 0,
  isDamaged: false,
};

const NOW = 1_000_000;

/** Returns the repair of a follower that is well apart from some facts, as times before now. */
function repairOf(facts: {
  endedAfterMs?: number;
  aheadForMs?: number;
  unreadable?: { reason: Readability["reason"]; forMs: number };
  isDamaged?: boolean;
  last?: { kind: "restart" | "restore"; agoMs: number };
}) {
  const { endedAfterMs, aheadForMs, unreadable, isDamaged = false, last } = facts;
  const health: Parameters<typeof neededRepair>[0] = {
    endedAfterMs,
    aheadSince: aheadForMs === undefined ? undefined : NOW - aheadForMs,
    readability: {
      ...READABLE,
      isDamaged,
      reason: unreadable?.reason,
      since: unreadable && NOW - unreadable.forMs,
    },
    last: last && { kind: last.kind, at: NOW - last.agoMs },
  };
  return neededRepair(health, NOW);
}

describe("a follower that is well", () => {
  test("is left alone", () => {
    expect(repairOf({})).toBeUndefined();
    expect(repairOf({ aheadForMs: 9_999 })).toBeUndefined();
    expect(repairOf({ unreadable: { reason: "locked", forMs: 2_999 } })).toBeUndefined();
    expect(repairOf({ unreadable: { reason: "unsettled", forMs: 9_999 } })).toBeUndefined();
  });
});

describe("a follower that does not go on", () => {
  test("is started again when it ends", () => {
    expect(repairOf({ endedAfterMs: 60_000 })).toBe("restart");
    expect(repairOf({ endedAfterMs: 100 })).toBe("restart");
  });

  test("is started again when a transaction is not applied for 10 s", () => {
    expect(repairOf({ aheadForMs: 10_000 })).toBe("restart");
  });

  test("is started again when the database is locked for 3 s", () => {
    expect(repairOf({ unreadable: { reason: "locked", forMs: 3_000 } })).toBe("restart");
  });

  test("is started again when a transaction is not noted for 10 s", () => {
    expect(repairOf({ unreadable: { reason: "unsettled", forMs: 10_000 } })).toBe("restart");
  });
});

describe("a repair that did not help", () => {
  const last = { kind: "restart", agoMs: 3_000 } as const;

  test("is followed by a restore after 3 s", () => {
    expect(repairOf({ aheadForMs: 13_000, last })).toBe("restore");
    expect(repairOf({ unreadable: { reason: "locked", forMs: 6_000 }, last })).toBe("restore");
    expect(repairOf({ aheadForMs: 12_999, last: { ...last, agoMs: 2_999 } })).toBeUndefined();
  });

  test("is followed by a restore when the new process ends at once", () => {
    expect(repairOf({ endedAfterMs: 1_999, last })).toBe("restore");
    expect(repairOf({ endedAfterMs: 2_000, last })).toBe("restart");
    expect(repairOf({ endedAfterMs: 50, last: { ...last, agoMs: 999 } })).toBeUndefined();
  });

  test("is not counted after 30 s", () => {
    expect(repairOf({ aheadForMs: 40_000, last: { ...last, agoMs: 30_000 } })).toBe("restart");
  });
});

describe("a damaged database", () => {
  test("is restored at once, and again after 10 s at the earliest", () => {
    expect(repairOf({ isDamaged: true })).toBe("restore");
    const last = { kind: "restore", agoMs: 9_999 } as const;
    expect(repairOf({ isDamaged: true, last })).toBeUndefined();
    expect(repairOf({ isDamaged: true, last: { ...last, agoMs: 10_000 } })).toBe("restore");
  });

  test("is restored when its file is missing for 3 s", () => {
    expect(repairOf({ unreadable: { reason: "missing", forMs: 3_000 } })).toBe("restore");
  });
});
