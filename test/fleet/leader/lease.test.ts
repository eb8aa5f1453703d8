import { describe, expect, test } from "bun:test";
import { holdLease, LEADER_KEY, readLeader, writeLeader } from "../../../src/fleet/leader";
import { createTestClock } from "../../support/clock";
import { createTestAlarms, leaderRecord } from "../../support/fleet/leader";
import { createMemoryStore } from "../../support/fleet/memory-store";
import { createTestLog } from "../../support/log";

async function createLease(isAutomatic: boolean) {
  const clock = createTestClock();
  const store = createMemoryStore();
  const alarms = createTestAlarms();
  const writtenAt = clock.monotonic();
  const written = await writeLeader(store, undefined, leaderRecord());
  if (written === "changed") throw new Error("not written");
  const { log } = createTestLog("silent");
  const lease = holdLease({ store, clock, log, alarms, isAutomatic }, written, writtenAt);
  let losses = 0;
  lease.lost.on(() => (losses += 1));
  return { alarms, clock, lease, losses: () => losses, store };
}

/** Makes another node the primary. */
async function takeOver(store: ReturnType<typeof createMemoryStore>) {
  const current = await readLeader(store);
  await writeLeader(store, current, leaderRecord({ term: 2, node: "node_b", run: "run_b" }));
}

describe("a lease with automatic failover", () => {
  test("is renewed every 5 seconds and stays held", async () => {
    const { clock, lease, store } = await createLease(true);
    await clock.advance(60_000);
    expect(lease.isHeld()).toBe(true);
    expect(lease.record.renewal).toBe(12);
    expect((await readLeader(store))?.record.renewal).toBe(12);
  });

  test("ends by itself 10 seconds after the beginning of the last confirmed renewal", async () => {
    const { alarms, clock, lease, store } = await createLease(true);
    await clock.advance(5_000);
    store.isDown = true;
    await clock.advance(9_999);
    expect(lease.isHeld()).toBe(true);
    expect(alarms.raised).toContain("lease_renewal");
    await clock.advance(1);
    expect(lease.isHeld()).toBe(false);
    expect(lease.leftMs()).toBe(0);
    expect(() => lease.requireHeld()).toThrow("not the primary");
  });

  test("is held again after the next confirmed renewal", async () => {
    const { alarms, clock, lease, losses, store } = await createLease(true);
    let regained = 0;
    lease.regained.on(() => (regained += 1));
    store.isDown = true;
    await clock.advance(20_000);
    expect(lease.isHeld()).toBe(false);
    store.isDown = false;
    await clock.advance(1_000);
    expect(lease.isHeld()).toBe(true);
    expect(regained).toBe(1);
    expect(losses()).toBe(0);
    expect(alarms.raised).not.toContain("lease_renewal");
  });

  test("counts from the beginning of a renewal, not from its answer", async () => {
    const { clock, lease, store } = await createLease(true);
    const slow = Promise.withResolvers<void>();
    store.hold = () => slow.promise;
    await clock.advance(9_000);
    slow.resolve();
    store.hold = undefined;
    await clock.advance(0);
    // The renewal began at 5 s.
    expect(lease.leftMs()).toBe(6_000);
  });

  test("does not count from a repeated renewal that finds the first one stored: it is renewed once more", async () => {
    const { clock, lease, store } = await createLease(true);
    store.losesAnswers = true;
    await clock.advance(5_000);
    store.losesAnswers = false;
    store.isDown = true;
    await clock.advance(3_000);
    expect(
      (await readLeader({ ...store, get: async (key) => store.objects.get(key) }))?.record.renewal,
    ).toBe(1);
    store.isDown = false;
    await clock.advance(1_000);
    expect((await readLeader(store))?.record.renewal).toBe(2);
    expect(lease.leftMs()).toBe(10_000);
  });

  test("is not held after a jump of the wall clock until the next confirmed renewal", async () => {
    const { clock, lease } = await createLease(true);
    clock.setWallClock(clock.now() + 2_001);
    expect(lease.isHeld()).toBe(false);
    await clock.advance(5_000);
    expect(lease.isHeld()).toBe(true);
    clock.setWallClock(clock.now() - 1_900);
    expect(lease.isHeld()).toBe(true);
  });
});

describe("a lease", () => {
  test.each([true, false])(
    "is lost for good when another node has written the record (automatic: %p)",
    async (isAutomatic) => {
      const { clock, lease, losses, store } = await createLease(isAutomatic);
      await takeOver(store);
      await clock.advance(5_000);
      expect(lease.isHeld()).toBe(false);
      await clock.advance(60_000);
      expect(losses()).toBe(1);
      expect(lease.isHeld()).toBe(false);
      expect((await readLeader(store))?.record.node).toBe("node_b");
      expect(await lease.change({ prefix: "term-000001-2" })).toBe(false);
    },
  );

  test("is lost at once when a look at the record finds another node", async () => {
    const { lease, losses, store } = await createLease(true);
    expect(await lease.confirm()).toMatchObject({ node: "node_a" });
    await takeOver(store);
    expect(await lease.confirm()).toBeUndefined();
    expect(lease.isHeld()).toBe(false);
    expect(losses()).toBe(1);
  });

  test("goes on as without an answer while a record without signature is in the place of its own", async () => {
    const { alarms, clock, lease, losses, store } = await createLease(true);
    const own = store.objects.get(LEADER_KEY);
    const forged = JSON.stringify(leaderRecord({ term: 2, node: "node_b" }));
    await store.put(LEADER_KEY, new TextEncoder().encode(forged));
    await expect(lease.confirm()).rejects.toThrow("is not signed");
    await clock.advance(5_000);
    expect(lease.isHeld()).toBe(true);
    expect(alarms.raised).toContain("lease_renewal");
    await clock.advance(5_000);
    expect(lease.isHeld()).toBe(false);
    if (own) store.objects.set(LEADER_KEY, own);
    await clock.advance(1_000);
    expect(lease.isHeld()).toBe(true);
    expect(losses()).toBe(0);
  });

  test("is lost when the record was removed", async () => {
    const { lease, store } = await createLease(false);
    store.objects.clear();
    expect(await lease.confirm()).toBeUndefined();
    expect(lease.isHeld()).toBe(false);
  });

  test("survives lost answers to renewals", async () => {
    const { clock, lease, losses, store } = await createLease(true);
    store.losesAnswers = true;
    await clock.advance(7_000);
    store.losesAnswers = false;
    await clock.advance(30_000);
    expect(lease.isHeld()).toBe(true);
    expect(losses()).toBe(0);
  });

  test("stays held without the store if nobody takes over by himself, with an alarm", async () => {
    const { alarms, clock, lease, store } = await createLease(false);
    store.isDown = true;
    await clock.advance(3_600_000);
    clock.setWallClock(clock.now() + 60_000);
    expect(lease.isHeld()).toBe(true);
    expect(alarms.raised).toContain("lease_renewal");
    expect(lease.leftMs()).toBe(Infinity);
  });

  test("writes changes of the record one after another", async () => {
    const { lease, store } = await createLease(true);
    const [first, second] = await Promise.all([
      lease.change({ prefix: "term-000001-2" }),
      lease.change({ released: true }),
    ]);
    expect([first, second]).toEqual([true, true]);
    expect((await readLeader(store))?.record).toMatchObject({
      prefix: "term-000001-2",
      released: true,
      renewal: 2,
    });
  });
});
