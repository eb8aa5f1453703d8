import { describe, expect, test } from "bun:test";
import { openDataDirectory } from "../../../src/db/data-directory";
import { claimLeadership, LEADER_KEY, readLeader, writeLeader } from "../../../src/fleet/leader";
import { readNode, writeNode } from "../../../src/fleet/node";
import { systemRandom } from "../../../src/base/hash";
import { createTestClock } from "../../support/clock";
import { leaderRecord } from "../../support/fleet/leader";
import { createMemoryStore, type MemoryStore } from "../../support/fleet/memory-store";
import { temporaryFolder } from "../../support/temporary-folder";

function createNode(store: MemoryStore) {
  const folder = temporaryFolder();
  const directory = openDataDirectory(folder.path);
  const node = readNode(directory, systemRandom);
  const claim = (run = "run", lastTerm = 0) =>
    claimLeadership(store, createTestClock(), {
      directory,
      node: readNode(directory, systemRandom),
      run,
      address: "http://10.0.0.1:9090",
      lastTerm,
    });
  const setTerm = (term: number) => writeNode(directory, { ...node, term });
  const term = () => readNode(directory, systemRandom).term;
  return { claim, id: node.id, setTerm, term, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

describe("a claim of a node", () => {
  test("creates the record of a new fleet in term 1, and takes it again after a restart", async () => {
    const store = createMemoryStore();
    using node = createNode(store);
    expect(await node.claim("first")).toMatchObject({
      kind: "held",
      leader: { record: { term: 1, node: node.id, prefix: "term-000001-1", previous: null } },
    });
    expect(await node.claim("second")).toMatchObject({
      kind: "held",
      leader: { record: { term: 1, run: "second", prefix: "term-000001-1", renewal: 1 } },
    });
  });

  test("begins a later term than its database has seen", async () => {
    const store = createMemoryStore();
    using node = createNode(store);
    const claim = await node.claim("run", 7);
    expect(claim).toMatchObject({ leader: { record: { term: 8, prefix: "term-000008-1" } } });
  });

  test("is refused if the fleet has another primary, also if both begin at once", async () => {
    const store = createMemoryStore();
    using first = createNode(store);
    using second = createNode(store);
    const outcomes = await Promise.allSettled([first.claim(), second.claim()]);
    const refused = outcomes.flatMap((outcome) =>
      outcome.status === "rejected" ? [String(outcome.reason)] : [],
    );
    expect(refused).toEqual([expect.stringContaining("Start this node with --replica")]);
    const winner = (await readLeader(store))?.record.node;
    const loser = winner === first.id ? second : first;
    expect(loser.term()).toBeUndefined();
  });

  test("finds that its term has ended", async () => {
    const store = createMemoryStore();
    await writeLeader(store, undefined, leaderRecord({ term: 7, node: "node_other" }));
    using node = createNode(store);
    node.setTerm(6);
    expect(await node.claim()).toMatchObject({
      kind: "superseded",
      term: 6,
      by: { term: 7, node: "node_other" },
    });
  });

  test.each([6, 7])(
    "is refused with a record of another node in term %p after term 7",
    async (term) => {
      const store = createMemoryStore();
      await writeLeader(store, undefined, leaderRecord({ term, node: "node_other" }));
      using node = createNode(store);
      node.setTerm(7);
      await expect(node.claim()).rejects.toThrow("Name the store of this node's fleet");
      expect((await readLeader(store))?.record.node).toBe("node_other");
    },
  );

  test("signs the record of its own term that an earlier version wrote, and refuses that of another node", async () => {
    const store = createMemoryStore();
    using node = createNode(store);
    await node.claim();
    const { signature: _, ...unsigned } = JSON.parse(store.text(LEADER_KEY)) as {
      signature: string;
    };
    await store.put(LEADER_KEY, new TextEncoder().encode(JSON.stringify(unsigned)));
    using other = createNode(store);
    await expect(other.claim()).rejects.toThrow("is not signed");
    expect(await node.claim("upgraded")).toMatchObject({ kind: "held" });
    expect((await readLeader(store))?.record).toMatchObject({ node: node.id, run: "upgraded" });
  });

  test("takes back a record that it had released and nobody took", async () => {
    const store = createMemoryStore();
    using node = createNode(store);
    const claim = await node.claim();
    if (claim.kind !== "held") throw new Error("not held");
    await writeLeader(store, claim.leader, { ...claim.leader.record, released: true });
    expect(await node.claim()).toMatchObject({ leader: { record: { released: false } } });
  });
});
