import { expect, test } from "bun:test";
import { LEADER_KEY, readLeader, watchLeader, writeLeader } from "../../../src/fleet/leader";
import { createTestClock } from "../../support/clock";
import { leaderRecord } from "../../support/fleet/leader";
import { createMemoryStore } from "../../support/fleet/memory-store";
import { createTestLog } from "../../support/log";

test("a replica keeps the address that it knows while a record is not signed or of an earlier term", async () => {
  const clock = createTestClock();
  const store = createMemoryStore();
  const first = await writeLeader(store, undefined, leaderRecord());
  const earlier = store.objects.get(LEADER_KEY)?.bytes ?? new Uint8Array();
  if (first === "changed") throw new Error("not written");
  const { log, lines } = createTestLog("warn");
  const address = "http://10.0.0.2:9090";
  await writeLeader(store, first, leaderRecord({ term: 2, node: "node_b", address }));
  const watch = watchLeader(store, { clock, log });
  await clock.advance(2_000);
  expect(watch.record()).toMatchObject({ term: 2, address });

  const forged = JSON.stringify(leaderRecord({ term: 3, address: "http://10.6.6.6:9090" }));
  for (const [bytes, reason] of [
    [new TextEncoder().encode(forged), "is not signed"],
    [earlier, "is of term 1, but term 2 has begun"],
  ] as const) {
    await store.put(LEADER_KEY, bytes);
    await clock.advance(2_000);
    expect(watch.record()).toMatchObject({ term: 2, address });
    expect(JSON.stringify(lines)).toContain(reason);
  }

  const current = await store.get(LEADER_KEY);
  const before = { record: leaderRecord(), etag: current?.etag ?? "" };
  await writeLeader(store, before, leaderRecord({ term: 3, node: "node_c" }));
  await clock.advance(2_000);
  expect(watch.record()).toMatchObject({ term: 3, node: "node_c" });
  expect((await readLeader(store))?.record.term).toBe(3);
  watch.stop();
});
