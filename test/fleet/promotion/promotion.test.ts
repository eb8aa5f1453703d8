import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openDataDirectory } from "../../../src/db/data-directory";
import { migrate, SCHEMA_VERSION } from "../../../src/db/migrations";
import { closeSqlite, openSqlite } from "../../../src/db/open";
import { folderAddress } from "../../../src/base/store-address";
import { readLeader, writeLeader } from "../../../src/fleet/leader";
import { readNode } from "../../../src/fleet/node";
import { findInterrupted, promoteReplica } from "../../../src/fleet/run-node";
import { systemRandom } from "../../../src/base/hash";
import { createTestClock } from "../../support/clock";
import { createTestAlarms, leaderRecord } from "../../support/fleet/leader";
import { createMemoryStore, type MemoryStore } from "../../support/fleet/memory-store";
import { createTestLog } from "../../support/log";
import { temporaryFolder } from "../../support/temporary-folder";

type Candidate = Parameters<typeof promoteReplica>[0];

/** A replica with a copy of a database, on which it has a candidate. */
function createReplica(store: MemoryStore, changes: Partial<Candidate["copy"]> = {}) {
  const folder = temporaryFolder();
  const directory = openDataDirectory(folder.path);
  const file = join(folder.path, "replica.db");
  const sqlite = openSqlite(file, 0);
  migrate(sqlite, undefined);
  sqlite.run("PRAGMA journal_mode = DELETE");
  closeSqlite(sqlite);
  const node = readNode(directory, systemRandom);
  const litestream = {
    program: "/nowhere/litestream",
    store: folderAddress(folder.path),
    credentials: undefined,
  };
  const candidate: Candidate = {
    directory,
    node,
    run: "run",
    address: "http://10.0.0.2:9090",
    store: { leader: store, files: store, litestream },
    copy: {
      prefix: () => "term-000001-1",
      txid: () => 41,
      lastTerm: async () => 1,
      schema: async () => SCHEMA_VERSION,
      finish: async () => file,
      ...changes,
    },
    clock: createTestClock(),
    log: createTestLog("silent").log,
    alarms: createTestAlarms(),
  };
  return { candidate, directory, file, node, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

async function createFleet() {
  const store = createMemoryStore();
  const leader = await writeLeader(store, undefined, leaderRecord());
  if (leader === "changed") throw new Error("not written");
  return { leader, store };
}

describe("a promotion", () => {
  test("begins the next term and makes the copy the database of the data directory", async () => {
    const { leader, store } = await createFleet();
    let txid = 41;
    using replica = createReplica(store, {
      txid: () => txid,
      async finish() {
        // The term had begun before the rest of the log was read.
        expect((await readLeader(store))?.record.term).toBe(2);
        txid = 44;
        return replica.file;
      },
    });
    await promoteReplica(replica.candidate, leader);
    expect((await readLeader(store))?.record).toMatchObject({
      term: 2,
      node: replica.node.id,
      address: "http://10.0.0.2:9090",
      prefix: "term-000002-1",
      previous: { term: 1, prefix: "term-000001-1", txid: 44 },
    });
    using sqlite = new Database(replica.directory.database);
    expect(sqlite.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    expect(existsSync(replica.file)).toBe(false);
    expect(readNode(replica.directory, systemRandom).term).toBe(2);
  });

  test("leaves everything as it was if another node was faster", async () => {
    const { leader, store } = await createFleet();
    using first = createReplica(store);
    using second = createReplica(store, { finish: () => Promise.reject(new Error("not reached")) });
    await promoteReplica(first.candidate, leader);
    await expect(promoteReplica(second.candidate, leader)).rejects.toThrow(
      "Another node has become the primary",
    );
    expect((await readLeader(store))?.record.node).toBe(first.node.id);
    expect(readNode(second.directory, systemRandom).term).toBeUndefined();
    expect(existsSync(second.file)).toBe(true);
  });

  test("begins a later term than any in the copy if the store has no record", async () => {
    const store = createMemoryStore();
    using replica = createReplica(store, { lastTerm: async () => 7 });
    await promoteReplica(replica.candidate, undefined);
    expect((await readLeader(store))?.record).toMatchObject({ term: 8, previous: null });
  });

  test("does not begin a log below a prefix that has files", async () => {
    const { leader, store } = await createFleet();
    await store.put("term-000002-1/0000/a.ltx", new Uint8Array(1));
    using replica = createReplica(store);
    await promoteReplica(replica.candidate, leader);
    expect((await readLeader(store))?.record.prefix).toBe("term-000002-2");
  });

  test("does not use a copy of an earlier log, which lacks the writes of the last term", async () => {
    const { store } = await createFleet();
    const later = leaderRecord({ term: 2, prefix: "term-000002-1", node: "node_b" });
    const leader = await writeLeader(store, await readLeader(store), later);
    if (leader === "changed") throw new Error("not written");
    using replica = createReplica(store, {
      finish: () => Promise.reject(new Error("not reached")),
    });
    // The last log is restored instead, for which there is no program here.
    await expect(promoteReplica(replica.candidate, leader)).rejects.toThrow("litestream");
    expect(existsSync(replica.directory.database)).toBe(false);
    expect((await readLeader(store))?.record.previous).toMatchObject({ prefix: "term-000002-1" });
  });

  test("goes on with the log before a term in which nothing was written", async () => {
    const { store } = await createFleet();
    const previous = { term: 1, prefix: "term-000001-1", txid: 41 };
    const empty = leaderRecord({ term: 2, prefix: "term-000002-1", node: "node_b", previous });
    const leader = await writeLeader(store, await readLeader(store), empty);
    if (leader === "changed") throw new Error("not written");
    using replica = createReplica(store);
    await promoteReplica(replica.candidate, leader);
    expect((await readLeader(store))?.record).toMatchObject({ term: 3, previous });
    expect(existsSync(replica.directory.database)).toBe(true);
  });

  test("is refused on a node with an earlier schema than the primary's, before anything is changed", async () => {
    const store = createMemoryStore();
    const newer = leaderRecord({ schema: SCHEMA_VERSION + 1 });
    const leader = await writeLeader(store, undefined, newer);
    if (leader === "changed") throw new Error("not written");
    using replica = createReplica(store, {
      schema: async () => SCHEMA_VERSION + 1,
      finish: () => Promise.reject(new Error("not reached")),
    });
    for (const before of [leader, undefined]) {
      await expect(promoteReplica(replica.candidate, before)).rejects.toThrow(
        `The database has schema version ${SCHEMA_VERSION + 1}`,
      );
    }
    expect((await readLeader(store))?.record).toEqual(newer);
    expect(readNode(replica.directory, systemRandom).term).toBeUndefined();
  });

  test("without a record that was interrupted is made again with the copy", async () => {
    const store = createMemoryStore();
    using replica = createReplica(store, { lastTerm: async () => 7 });
    const finish = replica.candidate.copy.finish;
    replica.candidate.copy.finish = () => Promise.reject(new Error("killed"));
    await expect(promoteReplica(replica.candidate, undefined)).rejects.toThrow("killed");
    expect(await findInterrupted(replica.candidate, false)).toMatchObject({ previous: null });
    replica.candidate.copy.finish = finish;
    await promoteReplica(replica.candidate, await readLeader(store));
    expect((await readLeader(store))?.record).toMatchObject({ term: 9, previous: null });
    expect(existsSync(replica.directory.database)).toBe(true);
  });

  test("is not found as interrupted once something was written in its term, also if the database is gone", async () => {
    const { leader, store } = await createFleet();
    using replica = createReplica(store);
    await promoteReplica(replica.candidate, leader);
    expect(await findInterrupted(replica.candidate, false)).toMatchObject({ term: 2 });
    const first = "0000000000000001-0000000000000001.ltx";
    await store.put(`term-000002-1/ltx/9/${first}`, new Uint8Array(1));
    expect(await findInterrupted(replica.candidate, false)).toBeUndefined();
  });

  test("of the first term is found as interrupted until something was written", async () => {
    const store = createMemoryStore();
    using replica = createReplica(store);
    const { candidate, node } = replica;
    node.term = 1;
    await writeLeader(store, undefined, leaderRecord({ node: node.id }));
    expect(await findInterrupted(candidate, false)).toMatchObject({ term: 1 });
    const first = "0000000000000001-0000000000000001.ltx";
    await store.put(`term-000001-1/ltx/0/${first}`, new Uint8Array(1));
    expect(await findInterrupted(candidate, false)).toBeUndefined();
  });

  test("is refused with a damaged copy, and is found as interrupted at the next start", async () => {
    const { leader, store } = await createFleet();
    using replica = createReplica(store);
    writeFileSync(replica.file, "damaged".repeat(1_000));
    await expect(promoteReplica(replica.candidate, leader)).rejects.toThrow();
    expect(existsSync(replica.directory.database)).toBe(false);
    const { candidate } = replica;
    expect(await findInterrupted(candidate, false)).toMatchObject({ term: 2 });
    expect(await findInterrupted(candidate, true)).toBeUndefined();
  });

  test("renews its lease while the copy is completed, and until the primary starts", async () => {
    const { leader, store } = await createFleet();
    const clock = createTestClock();
    using replica = createReplica(store, {
      async finish() {
        await clock.advance(60_000);
        return replica.file;
      },
    });
    const lease = await promoteReplica({ ...replica.candidate, clock }, leader);
    const { renewal } = lease.record;
    expect(renewal).toBeGreaterThanOrEqual(12);
    await clock.advance(10_000);
    expect((await readLeader(store))?.record.renewal).toBe(renewal + 2);
    await lease.stop();
    await clock.advance(10_000);
    expect((await readLeader(store))?.record.renewal).toBe(renewal + 2);
  });
});
