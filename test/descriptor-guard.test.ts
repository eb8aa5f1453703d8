import { describe, expect, test } from "bun:test";
import { guardDescriptors } from "../src/listening";
import { createTestClock } from "./support/clock";
import { createTestLog } from "./support/log";

const LIMIT = 1_000;

function openGuard() {
  const clock = createTestClock();
  const acts: string[] = [];
  const process = { used: 10, isOpening: true };
  let isOpen = true;
  const listener = {
    get isOpen() {
      return isOpen;
    },
    closeIdleConnections: () => void acts.push("idle"),
    async close() {
      acts.push("all");
      isOpen = false;
    },
    reopen() {
      if (!process.isOpening) throw new Error("the port is taken");
      isOpen = true;
      acts.push("reopened");
    },
  };
  const { log } = createTestLog("warn");
  const guard = guardDescriptors(
    listener,
    { clock, log },
    { limit: LIMIT, open: () => process.used },
  );
  return { clock, process, acts, guard };
}

describe("the descriptor guard", () => {
  test("the guard closes nothing while enough descriptors are free", async () => {
    const { clock, acts, guard } = openGuard();
    await clock.advance(60_000);
    expect(acts).toEqual([]);
    expect(guard.lastUnreachableAt()).toBe(Number.NEGATIVE_INFINITY);
  });

  test("the guard closes only idle connections while few descriptors are left", async () => {
    const { clock, process, acts, guard } = openGuard();
    process.used = LIMIT / 2;
    await clock.advance(1_500);
    expect(acts).toEqual(["idle", "idle", "idle"]);
    expect(guard.lastUnreachableAt()).toBe(Number.NEGATIVE_INFINITY);
  });

  test("the guard closes all connections and opens the port again if that frees too few", async () => {
    const { clock, process, acts, guard } = openGuard();
    process.used = LIMIT;
    await clock.advance(1_000);
    expect(acts).toEqual(["idle", "idle", "all", "reopened"]);
    expect(guard.lastUnreachableAt()).toBe(clock.monotonic());
    process.used = 10;
    await clock.advance(5_000);
    expect(acts).toHaveLength(4);
    expect(guard.lastUnreachableAt()).toBe(clock.monotonic() - 5_000);
  });

  test("the guard closes all connections even if a check between two shortages finds descriptors free", async () => {
    const { clock, process, acts } = openGuard();
    process.used = LIMIT;
    await clock.advance(500);
    process.used = 10;
    await clock.advance(500);
    process.used = LIMIT;
    await clock.advance(500);
    expect(acts).toContain("all");
  });

  test("the guard closes no active connection for two shortages that are seconds apart", async () => {
    const { clock, process, acts } = openGuard();
    for (let round = 0; round < 3; round++) {
      process.used = LIMIT;
      await clock.advance(500);
      process.used = 10;
      await clock.advance(3_000);
    }
    expect(acts).toEqual(["idle", "idle", "idle"]);
  });

  test("the guard keeps the port closed for longer each time clients exhaust the descriptors again", async () => {
    const { clock, process, acts } = openGuard();
    process.used = LIMIT;
    const closedMs: number[] = [];
    let closedAt = 0;
    for (let passed = 0; passed < 120; passed++) {
      const before = acts.length;
      await clock.advance(500);
      const since = acts.slice(before);
      if (since.includes("all")) closedAt = clock.monotonic();
      if (since.includes("reopened")) closedMs.push(clock.monotonic() - closedAt);
    }
    expect(closedMs.slice(0, 6)).toEqual([0, 500, 1_000, 2_000, 4_000, 8_000]);
  });

  test("the guard tries again to open a port that cannot be opened", async () => {
    const { clock, process, acts, guard } = openGuard();
    process.used = LIMIT;
    process.isOpening = false;
    await clock.advance(1_000);
    process.used = 10;
    await clock.advance(10_000);
    expect(acts).not.toContain("reopened");
    expect(guard.lastUnreachableAt()).toBe(clock.monotonic());
    process.isOpening = true;
    await clock.advance(20_000);
    expect(acts).toContain("reopened");
    expect(guard.lastUnreachableAt()).toBeLessThan(clock.monotonic());
  });
});
