import { beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { countRows } from "../../../src/db/orphans";
import { CLI_ACTOR } from "../../../src/base/actor";
import { startReplication } from "../../../src/fleet/log/replication";
import {
  checkRestore,
  readRestoreCheck,
  startNightlyCheck,
} from "../../../src/fleet/restore-check";
import { openForCommand } from "../../../src/installation";
import { systemClock } from "../../../src/base/clock";
import { DAY_MS, HOUR_MS, MINUTE_MS, startOfDay } from "../../../src/base/time";
import { openObjectStore } from "../../../src/object-store/open";
import { testConfig } from "../../support/app";
import { createTestClock, settle, type TestClock } from "../../support/clock";
import { describeWithPrograms } from "../../support/fleet/describe";
import { litestreamPath } from "../../support/fleet/litestream";
import { createMemoryStore, type MemoryStore } from "../../support/fleet/memory-store";
import { createTestLog } from "../../support/log";
import { temporaryFolder } from "../../support/temporary-folder";
import { createKey } from "../../support/examined";

const PREFIX = "term-000001-1";

await describeWithPrograms("the nightly restore", { go: ["litestream"] }, () => {
  test("finds that a restored database is the same, that rows are missing, and that a log has a hole", async () => {
    using folder = temporaryFolder();
    const clock = systemClock();
    const { log } = createTestLog("silent");
    const path = join(folder.path, "store");
    const address = { kind: "folder", path } as const;
    const store = openObjectStore(address, undefined, { clock });
    const program = await litestreamPath();
    const litestream = { program, store: address, credentials: undefined };
    const env = { ALLCLEAR_DATA_DIR: join(folder.path, "data"), ALLCLEAR_LOG_LEVEL: "silent" };
    const installation = openForCommand(testConfig(env), "test", { canCreate: true });
    const { ctx, directory } = installation;
    const state = join(folder.path, "litestream");
    const replication = await startReplication(
      { clock, log, litestream, database: directory.database, folder: state },
      PREFIX,
    );
    /** Creates a key. Resolves to its transaction once that is uploaded. */
    async function write(): Promise<number> {
      const key = { name: "CI", scopes: ["read:status" as const] };
      await ctx.db.write((tx) => createKey(ctx, tx, key, CLI_ACTOR));
      for (;;) {
        const txid = await replication.sync(10_000).catch(() => undefined);
        if (txid !== undefined) return txid;
        await settle();
      }
    }
    const deps = { clock, log, store, litestream, node: "oslo", folder: folder.path };
    const check = (txid: number, counts = countRows(ctx.db)) =>
      checkRestore({ ...deps, read: async () => ({ prefix: PREFIX, txid, counts }) });

    // Left by a process that was killed.
    mkdirSync(join(folder.path, "restore-check"));
    const first = await write();
    const counts = countRows(ctx.db);
    expect(counts).toMatchObject({ api_keys: 1, pages: 0 });
    const second = await write();
    expect(await check(first, counts)).toMatchObject({ node: "oslo", txid: first, error: null });
    expect(await check(second, counts)).toMatchObject({
      error: "The restored database has 2 rows in api_keys, and the node 1.",
    });
    await replication.stop();
    for (const level of readdirSync(join(path, PREFIX, "ltx"))) {
      rmSync(join(path, PREFIX, "ltx", level), { recursive: true });
    }
    expect((await check(second)).error).toStartWith(`The log ${PREFIX} could not be restored: `);
    expect(await readRestoreCheck(store)).toMatchObject({ txid: second, node: "oslo" });
    expect(readdirSync(folder.path).filter((name) => /check/.test(name))).toEqual([]);
    installation.close();
  }, 600_000);
});

describe("the time of the nightly restore", () => {
  let clock: TestClock;
  let store: MemoryStore;
  /** Times of day of the checks by node, in ms. */
  let checks: [node: string, timeOfDay: number][];

  beforeEach(() => {
    clock = createTestClock();
    store = createMemoryStore();
    checks = [];
  });

  function startNode(node: string, isStored: boolean) {
    const { log } = createTestLog("silent");
    return startNightlyCheck({ clock, log, store, node }, async () => {
      checks.push([node, clock.now() - startOfDay(clock.now())]);
      if (!isStored) return;
      const result = JSON.stringify({ at: clock.now(), node, error: null });
      await store.put("restore-check.json", new TextEncoder().encode(result));
    });
  }

  test("is once a night between 02:00 and 04:00 UTC, for one of several nodes", async () => {
    const timers = ["oslo", "voss", "bergen"].map((node) => startNode(node, true));
    await clock.advance(3 * DAY_MS);
    expect(checks).toHaveLength(3);
    expect(new Set(checks.map(([node]) => node)).size).toBe(1);
    for (const [, time] of checks) {
      expect(time).toBeGreaterThanOrEqual(2 * HOUR_MS);
      expect(time).toBeLessThan(4 * HOUR_MS);
    }
    for (const timer of timers) timer.cancel();
    await clock.advance(DAY_MS);
    expect(checks).toHaveLength(3);
  });

  test("comes again the next night if the store did not answer", async () => {
    const timer = startNode("oslo", false);
    store.isDown = true;
    await clock.advance(DAY_MS);
    expect(checks).toEqual([]);
    store.isDown = false;
    await clock.advance(DAY_MS + MINUTE_MS);
    expect(checks).toHaveLength(1);
    timer.cancel();
  });
});
