import { describe, expect, test } from "bun:test";
import {
  LEADER_KEY,
  type LeaderRecord,
  nextPrefix,
  prefixOf,
  readLeader,
  sign,
  signRecords,
  writeLeader,
} from "../../../src/fleet/leader";
import { leaderRecord } from "../../support/fleet/leader";
import { createMemoryStore, type MemoryStore } from "../../support/fleet/memory-store";

describe("the leader record", () => {
  test("is created once, and read as it was written", async () => {
    const store = createMemoryStore();
    expect(await readLeader(store)).toBeUndefined();
    const record = leaderRecord({ address: "http://10.0.0.1:9090" });
    const written = await writeLeader(store, undefined, record);
    expect(written).toMatchObject({ record });
    expect(await readLeader(store)).toMatchObject({ record });
    const second = leaderRecord({ node: "node_b", run: "run_b" });
    expect(await writeLeader(store, undefined, second)).toBe("changed");
  });

  test("is changed only by the one that knows the current entity tag", async () => {
    const store = createMemoryStore();
    const first = await writeLeader(store, undefined, leaderRecord());
    if (first === "changed") throw new Error("not written");
    const other = await writeLeader(store, first, leaderRecord({ node: "node_b", term: 2 }));
    expect(other).toMatchObject({ record: { term: 2 } });
    expect(await writeLeader(store, first, leaderRecord({ renewal: 1 }))).toBe("changed");
    expect((await readLeader(store))?.record).toMatchObject({ node: "node_b", term: 2 });
  });

  test("counts as written if only the answer was lost", async () => {
    const store = createMemoryStore();
    const first = await writeLeader(store, undefined, leaderRecord());
    if (first === "changed") throw new Error("not written");
    const next = leaderRecord({ renewal: 1 });
    store.losesAnswers = true;
    await expect(writeLeader(store, first, next)).rejects.toThrow("did not answer");
    store.losesAnswers = false;
    const again = await writeLeader(store, first, next);
    expect(again).toMatchObject({ record: { renewal: 1 } });
    expect(again).toEqual({ ...(await readLeader(store)), isFound: true } as never);
  });

  test.each([
    ["no JSON", "hello"],
    ["null", "null"],
    ["another object", '{"term":1}'],
    ["a prefix that leads elsewhere", JSON.stringify(leaderRecord({ prefix: "../other" }))],
    [
      "a log of the term before that leads elsewhere",
      JSON.stringify({ ...leaderRecord(), previous: { term: 1, prefix: "../other", txid: 1 } }),
    ],
    ["a term that is no number", JSON.stringify({ ...leaderRecord(), term: "1" })],
  ])("is refused if it is %s", async (_, text) => {
    const store = createMemoryStore();
    await store.put(LEADER_KEY, new TextEncoder().encode(text));
    await expect(readLeader(store)).rejects.toThrow("leader.json in memory is not a record");
  });

  /** Writes a record as an earlier version does, without a signature. */
  async function writeUnsigned(store: MemoryStore, changes: Partial<LeaderRecord> = {}) {
    const text = JSON.stringify(leaderRecord(changes));
    await store.put(LEADER_KEY, new TextEncoder().encode(text));
  }

  test("is refused if its signature is missing, of another secret, or of other content", async () => {
    const store = createMemoryStore();
    await writeUnsigned(store);
    await expect(readLeader(store)).rejects.toThrow("is not signed");
    const other = signRecords(createMemoryStore(), "another secret of at least 32 characters");
    await writeLeader(other, undefined, leaderRecord());
    const { bytes } = (await other.get(LEADER_KEY)) ?? {};
    await store.put(LEADER_KEY, bytes ?? new Uint8Array());
    await expect(readLeader(store)).rejects.toThrow("ALLCLEAR_FLEET_SECRET must be equal");
    expect((await readLeader(other))?.record.node).toBe("node_a");

    const signed = sign(leaderRecord({ address: "http://10.0.0.1:9090" }), store);
    const changed = { ...signed, address: "http://10.6.6.6:9090" };
    await store.put(LEADER_KEY, new TextEncoder().encode(JSON.stringify(changed)));
    await expect(readLeader(store)).rejects.toThrow("is not signed with this fleet's secret");
    const cut = { ...signed, signature: signed.signature.slice(2) };
    await store.put(LEADER_KEY, new TextEncoder().encode(JSON.stringify(cut)));
    await expect(readLeader(store)).rejects.toThrow("is not signed with this fleet's secret");
  });

  test("has a signature that neither the order of its fields nor a field of a later version breaks", async () => {
    const store = createMemoryStore();
    const { signature, ...record } = sign({ ...leaderRecord(), later: { b: 1, a: [2] } }, store);
    const reversed = Object.fromEntries(Object.entries(record).reverse());
    const text = JSON.stringify({ signature, ...reversed, later: { a: [2], b: 1 } });
    await store.put(LEADER_KEY, new TextEncoder().encode(text));
    expect((await readLeader(store))?.record).toEqual(leaderRecord());
  });

  test("is read without a signature only by the node and term that it names", async () => {
    const store = createMemoryStore();
    await writeUnsigned(store);
    expect(await readLeader(store, { id: "node_a", term: 1 })).toMatchObject({
      record: { term: 1 },
    });
    await expect(readLeader(store, { id: "node_a", term: 2 })).rejects.toThrow("is not signed");
    await expect(readLeader(store, { id: "node_b", term: 1 })).rejects.toThrow("is not signed");
  });

  test("is refused once a later term was seen", async () => {
    const store = createMemoryStore();
    const first = await writeLeader(store, undefined, leaderRecord());
    if (first === "changed") throw new Error("not written");
    const earlier = store.objects.get(LEADER_KEY)?.bytes ?? new Uint8Array();
    await writeLeader(store, first, leaderRecord({ term: 2 }));
    await store.put(LEADER_KEY, earlier);
    await expect(readLeader(store)).rejects.toThrow("is of term 1, but term 2 has begun");
  });

  test("names a prefix for each log of a term", () => {
    expect(prefixOf(7, 1)).toBe("term-000007-1");
    expect(nextPrefix("term-000007-1")).toBe("term-000007-2");
    expect(nextPrefix("term-1234567-9")).toBe("term-1234567-10");
  });
});
