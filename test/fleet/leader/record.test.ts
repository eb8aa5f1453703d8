import { describe, expect, test } from "bun:test";
import {
  LEADER_KEY,
  nextPrefix,
  prefixOf,
  readLeader,
  writeLeader,
} from "../../../src/fleet/leader/record";
import { leaderRecord } from "../../support/fleet/leader";
import { createMemoryStore } from "../../support/fleet/memory-store";

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

  test("names a prefix for each log of a term", () => {
    expect(prefixOf(7, 1)).toBe("term-000007-1");
    expect(nextPrefix("term-000007-1")).toBe("term-000007-2");
    expect(nextPrefix("term-1234567-9")).toBe("term-1234567-10");
  });
});
