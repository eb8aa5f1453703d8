import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { openDataDirectory } from "../../../src/db/data-directory";
import { migrate, SCHEMA_VERSION } from "../../../src/db/migrations";
import { closeSqlite, openSqlite } from "../../../src/db/open";
import { folderAddress } from "../../../src/base/store-address";
import {
  claimLeadership,
  type LeaderStore,
  readLeader,
  signRecords,
  writeLeader,
} from "../../../src/fleet/leader";
import { startReplication } from "../../../src/fleet/log/replication";
import { readNode } from "../../../src/fleet/node";
import { completePromotion, findInterrupted, promoteReplica } from "../../../src/fleet/run-node";
import { systemClock } from "../../../src/base/clock";
import { systemRandom } from "../../../src/base/hash";
import { openObjectStore } from "../../../src/object-store/open";
import { createTestClock } from "../../support/clock";
import { describeWithPrograms } from "../../support/fleet/describe";
import { eventually } from "../../support/fleet/eventually";
import { createTestAlarms, leaderRecord } from "../../support/fleet/leader";
import { litestreamPath } from "../../support/fleet/litestream";
import { FLEET_SECRET } from "../../support/fleet/nodes";
import { createTestLog } from "../../support/log";
import { temporaryFolder } from "../../support/temporary-folder";

/** Request of a promotion to the store, counted from 1, at which the process is killed. */
type Kill = { request: number; isExecuted: boolean };

/** Answers nothing from a request on, as if the process had been killed. Calls `killed` then. */
function killedAt(store: LeaderStore, { request, isExecuted }: Kill, killed: () => void) {
  let count = 0;
  const wrap =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      count += 1;
      if (count < request) return call(...args);
      if (count === request && isExecuted) await call(...args);
      killed();
      return new Promise<never>(() => {});
    };
  const wrapped = Object.assign(Object.create(store) as LeaderStore, {
    get: wrap(store.get),
    put: wrap(store.put),
    list: wrap(store.list),
  });
  return wrapped;
}

await describeWithPrograms("a promotion", { go: ["litestream"] }, () => {
  test("that is killed before or after any request to the store is completed at the next start", async () => {
    using folder = temporaryFolder();
    const program = await litestreamPath();
    const { log } = createTestLog("silent");
    const source = join(folder.path, "primary.db");
    const sqlite = openSqlite(source, 0);
    migrate(sqlite, undefined);
    sqlite.run("INSERT INTO terms (term, at, by) VALUES (1, 0, 'node_a')");

    /** Starts a fleet with the log of the source, and promotes a replica of it. Returns false if it was not killed. */
    async function killAndStart(name: string, kill: Kill): Promise<boolean> {
      const path = join(folder.path, name);
      mkdirSync(path);
      const address = folderAddress(join(path, "store"));
      const store = signRecords(
        openObjectStore(address, undefined, { clock: systemClock() }),
        FLEET_SECRET,
      );
      const litestream = { program, store: address, credentials: undefined };
      const replication = await startReplication(
        { clock: systemClock(), log, litestream, database: source, folder: join(path, "primary") },
        "term-000001-1",
      );
      await eventually("the log is in the store", async () => (await replication.sync(5_000)) > 0);
      await replication.stop();
      const leader = await writeLeader(store, undefined, leaderRecord());
      if (leader === "changed") throw new Error("not written");

      const directory = openDataDirectory(join(path, "replica"));
      const file = join(path, "replica.db");
      sqlite.run(`VACUUM INTO '${file}'`);
      const candidateOf = (leaderStore: LeaderStore): Parameters<typeof promoteReplica>[0] => ({
        directory,
        node: readNode(directory, systemRandom),
        run: "run",
        address: null,
        store: { leader: leaderStore, files: store, litestream },
        copy: {
          prefix: () => "term-000001-1",
          txid: () => 1,
          lastTerm: async () => 1,
          schema: async () => SCHEMA_VERSION,
          finish: async () => file,
        },
        clock: createTestClock(),
        log,
        alarms: createTestAlarms(),
      });
      const { promise: killed, resolve } = Promise.withResolvers<boolean>();
      const promoting = promoteReplica(
        candidateOf(killedAt(store, kill, () => resolve(true))),
        leader,
      );
      const wasKilled = await Promise.race([killed, promoting.then(() => false)]);

      // The next start.
      const next = candidateOf(store);
      const found = await findInterrupted(next, existsSync(directory.database));
      const current = await readLeader(store);
      const isOwn = current?.record.node === next.node.id;
      expect(found !== undefined).toBe(isOwn && wasKilled);
      if (found) await completePromotion(next, found);
      else if (!isOwn) await promoteReplica(next, current);
      using database = new Database(directory.database);
      expect(database.prepare("SELECT term, by FROM terms").all()).toEqual([
        { term: 1, by: "node_a" },
      ]);
      const claim = await claimLeadership(store, createTestClock(), {
        directory,
        node: readNode(directory, systemRandom),
        run: "next",
        address: null,
        lastTerm: 1,
      });
      expect(claim).toMatchObject({
        kind: "held",
        leader: { record: { node: next.node.id, previous: { prefix: "term-000001-1" } } },
      });
      return wasKilled;
    }

    let kills = 0;
    for (let request = 1, wasKilled = true; wasKilled; request++) {
      wasKilled = await killAndStart(`${request}-before`, { request, isExecuted: false });
      if (wasKilled) await killAndStart(`${request}-after`, { request, isExecuted: true });
      if (wasKilled) kills += 2;
    }
    // At least the lists of the logs, the record, and the end of the log before.
    expect(kills).toBeGreaterThanOrEqual(6);
    closeSqlite(sqlite);
  }, 600_000);
});
