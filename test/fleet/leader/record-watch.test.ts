import { describe, expect, test } from "bun:test";
import { holdLease, readLeader, watchRecord, writeLeader } from "../../../src/fleet/leader";
import { createTestClock } from "../../support/clock";
import { createTestAlarms, leaderRecord } from "../../support/fleet/leader";
import { createMemoryStore } from "../../support/fleet/memory-store";
import { createTestLog } from "../../support/log";

async function createFleet({ rank = 0 } = {}) {
  const clock = createTestClock();
  const store = createMemoryStore();
  const { log } = createTestLog("silent");
  const written = await writeLeader(store, undefined, leaderRecord());
  if (written === "changed") throw new Error("not written");
  const lease = holdLease(
    { store, clock, log, alarms: createTestAlarms(), isAutomatic: true },
    written,
    clock.monotonic(),
  );
  const ends: number[] = [];
  const startedAt = clock.monotonic();
  const watch = watchRecord({
    store,
    clock,
    log,
    node: "node_b",
    rank: () => rank,
    onEnded: () => ends.push(clock.monotonic() - startedAt),
  });
  return { clock, ends, lease, store, watch };
}

describe("a candidate", () => {
  test("finds no end of a lease that is renewed", async () => {
    const { clock, ends } = await createFleet();
    await clock.advance(600_000);
    expect(ends).toEqual([]);
  });

  test.each([
    [0, 15_000],
    [2, 19_000],
  ])("of rank %p finds the end after %p ms with one entity tag", async (rank, ms) => {
    const { clock, ends, lease } = await createFleet({ rank });
    await lease.stop();
    await clock.advance(ms + 1_000);
    expect(ends[0]).toBeGreaterThanOrEqual(ms);
    expect(ends[0]).toBeLessThanOrEqual(ms + 1_000);
  });

  test("never finds the end before the primary has stopped by itself", async () => {
    const { clock, ends, lease, store } = await createFleet();
    // The primary's requests fail from here on, those of the candidate do not.
    const put = store.put;
    store.put = () => Promise.reject(new Error("cut off"));
    while (ends.length === 0) {
      await clock.advance(100);
      if (ends.length > 0) expect(lease.isHeld()).toBe(false);
    }
    store.put = put;
    await clock.advance(1_000);
    expect(lease.isHeld()).toBe(true);
  });

  test("does not count time in which it could not read the record", async () => {
    const { clock, ends, lease, store } = await createFleet();
    store.isDown = true;
    await clock.advance(20_000);
    expect(ends).toEqual([]);
    store.isDown = false;
    await clock.advance(1_000);
    expect(lease.isHeld()).toBe(true);
    expect(ends).toEqual([]);
  });

  test("finds the end at once when the primary released the lease, and the one that released it does not", async () => {
    const { clock, ends, lease, store } = await createFleet();
    const own: number[] = [];
    const { log } = createTestLog("silent");
    watchRecord({
      store,
      clock,
      log,
      node: "node_a",
      rank: () => 0,
      onEnded: () => own.push(clock.monotonic()),
    });
    await lease.change({ released: true });
    await lease.stop();
    await clock.advance(1_000);
    expect(ends.length).toBeGreaterThan(0);
    await clock.advance(13_000);
    expect(own).toEqual([]);
    await clock.advance(2_000);
    expect(own.length).toBeGreaterThan(0);
  });

  test("of rank 2 lets better ones go first for 4 seconds when the primary released the lease", async () => {
    const { clock, ends, lease } = await createFleet({ rank: 2 });
    await clock.advance(500);
    await lease.change({ released: true });
    await lease.stop();
    // It reads the record every second.
    await clock.advance(4_400);
    expect(ends).toEqual([]);
    await clock.advance(1_000);
    expect(ends[0]).toBeGreaterThanOrEqual(5_000);
  });

  test("of two that find the end, one becomes the primary, in each of 200 rounds", async () => {
    const store = createMemoryStore();
    const first = await writeLeader(store, undefined, leaderRecord());
    if (first === "changed") throw new Error("not written");
    for (let term = 2; term <= 201; term++) {
      const seen = await readLeader(store);
      const outcomes = await Promise.all(
        ["node_b", "node_c"].map((node) =>
          writeLeader(store, seen, leaderRecord({ term, node, run: node })),
        ),
      );
      expect(outcomes.filter((outcome) => outcome !== "changed")).toHaveLength(1);
    }
  });
});
