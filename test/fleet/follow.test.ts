import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { closeSync, existsSync, openSync, statSync, utimesSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type ChildProcess, commandOf } from "../../src/fleet/log/replication";
import { logFileName, parseLogFile, startFollower } from "../../src/fleet/follow/log-fetcher";
import { describeWithPrograms } from "../support/fleet/describe";
import { LEAST_READS, type Observed, startFollowedLog } from "../support/fleet/followed-log";
import { durationMs, expectWithin, report, rounds, waitingTest } from "../support/long";

/** Time for which reads are observed, in ms. */
const OBSERVED_MS = rounds(2_000, 60_000);
const TIMEOUT_MS = durationMs(10 * 60_000, 20 * 60_000);

/** Number of transactions that are applied while reads are observed. */
const LEAST_VERSIONS = 10;

/** Expects that all reads were of one whole state each, none older than the replica has said. */
function expectWhole(observed: Observed): void {
  expect(observed).toMatchObject({ torn: 0, stale: 0, backwards: 0 });
  expect(observed.reads).toBeGreaterThanOrEqual(LEAST_READS);
}

/** Waits until a condition holds. The time limit of the test ends a wait in vain. */
async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await Bun.sleep(10);
}

await describeWithPrograms("a followed log", { go: ["litestream", "versitygw"] }, () => {
  describe("under load", () => {
    test.each([
      ["updates", 50],
      ["growing", 50],
      ["large", 3],
    ] as const)(
      "shows whole and current states while transactions of the kind %s are applied",
      async (kind, perSecond) => {
        await using log = await startFollowedLog(kind, perSecond);
        await log.caughtUp();
        const { txid } = log.following().state();
        const observed = await log.observe(OBSERVED_MS, () =>
          eventually(() => log.following().state().txid > txid + LEAST_VERSIONS),
        );
        report(`follow ${kind}`, { ...observed });
        expectWhole(observed);
        expect(observed.versions).toBeGreaterThan(1);
        expect(log.following().state()).toMatchObject({ restarts: 0, restores: 0 });
      },
      TIMEOUT_MS,
    );
  });

  test(
    "counts a transaction as applied once listeners have read it, although reads have seen it before",
    async () => {
      await using log = await startFollowedLog("updates", 50);
      await log.caughtUp();
      const following = log.following();
      let { txid } = following.state();
      following.changed.on(() => {
        txid = following.db.txid() ?? 0;
      });
      const ahead: number[] = [];
      let versions = 0;
      await log.observe(OBSERVED_MS, async () => {
        const until = performance.now() + OBSERVED_MS;
        for (let last = txid; performance.now() < until || versions <= 3; last = txid) {
          await Bun.sleep(3);
          const { txid: counted, newest } = following.state();
          if (counted > txid) ahead.push(counted);
          if (await following.waitFor(newest, 0)) {
            if (newest > txid) ahead.push(newest);
          }
          if (txid > last) versions += 1;
        }
      });
      expect(ahead).toEqual([]);
      expect(versions).toBeGreaterThan(3);
    },
    TIMEOUT_MS,
  );

  test(
    "whose follower is killed goes on with a new one, and shows no half of a transaction",
    async () => {
      await using log = await startFollowedLog("growing", 50);
      await log.caughtUp();
      let kills = 0;
      const observed = await log.observe(OBSERVED_MS, async () => {
        while (kills < rounds(4, 100)) {
          const pid = log.followerPid();
          if (pid !== undefined) {
            process.kill(pid, "SIGKILL");
            kills += 1;
          }
          await Bun.sleep(600 + Math.random() * 300);
        }
      });
      await log.caughtUp();
      report("follower killed", { kills, ...observed, ...log.following().state() } as never);
      expectWhole(observed);
    },
    TIMEOUT_MS,
  );

  test(
    "whose store stalls is read meanwhile, and caught up with afterwards",
    async () => {
      await using log = await startFollowedLog("large", 3);
      await log.caughtUp();
      const observed = await log.observe(OBSERVED_MS, async () => {
        log.link.stall();
        await Bun.sleep(4_000);
        await log.link.mend();
      });
      const caughtUpMs = await log.caughtUp();
      report("store stalled", { ...observed, caughtUpMs });
      expectWhole(observed);
      expectWithin(observed.longestRead, 350);
    },
    TIMEOUT_MS,
  );

  waitingTest(
    "whose follower is frozen is replaced within 30 s",
    async () => {
      await using log = await startFollowedLog("large", 3);
      await log.caughtUp();
      for (let round = 0; round < rounds(1, 10); round++) {
        /** Number of repairs. One that follows another within 30 s restores the database. */
        const repairs = () => {
          const { restarts, restores } = log.following().state();
          return restarts + restores;
        };
        const before = repairs();
        process.kill(log.followerPid() as number, "SIGSTOP");
        const startedAt = performance.now();
        const observed = await log.observe(0, async () => {
          await eventually(() => repairs() > before);
          await log.caughtUp();
        });
        const recoveredMs = Math.round(performance.now() - startedAt);
        report("follower frozen", { recoveredMs, ...observed });
        // Reads are refused until then if it was frozen with the lock.
        expect(observed).toMatchObject({ torn: 0, stale: 0, backwards: 0 });
        expectWithin(recoveredMs, 30_000);
      }
    },
    TIMEOUT_MS,
  );

  waitingTest(
    "whose store is cut off is read meanwhile, and caught up with afterwards",
    async () => {
      await using log = await startFollowedLog("large", 3);
      await log.caughtUp();
      await eventually(() => log.following().state().asOf !== undefined);
      const observed = await log.observe(OBSERVED_MS, async () => {
        await log.link.cut();
        const cutAt = Date.now();
        await Bun.sleep(3_000);
        expect(log.following().state().asOf).toBeLessThanOrEqual(cutAt);
        await log.link.mend();
      });
      const caughtUpMs = await log.caughtUp();
      report("store cut off", { ...observed, caughtUpMs });
      expectWhole(observed);
    },
    TIMEOUT_MS,
  );

  waitingTest(
    "whose store cuts objects in the middle is read meanwhile, and caught up with afterwards",
    async () => {
      await using log = await startFollowedLog("large", 3);
      await log.caughtUp();
      const observed = await log.observe(OBSERVED_MS, async () => {
        log.link.truncateAfter(20_000);
        await Bun.sleep(3_000);
        log.link.truncateAfter(undefined);
      });
      const caughtUpMs = await log.caughtUp();
      report("objects cut", { ...observed, caughtUpMs });
      expectWhole(observed);
    },
    TIMEOUT_MS,
  );

  waitingTest(
    "with a hole stands still with the time of its state, and goes on when the hole is filled",
    async () => {
      // Files are merged once, soon after the start: a merged file with the missing one would fill the hole.
      const settings = { levels: [{ interval: "720h" }] };
      await using log = await startFollowedLog("updates", 20, settings);
      await log.caughtUp();
      await eventually(() => log.following().state().asOf !== undefined);
      await log.link.cut();
      const filesOf = async (level: number) => {
        const prefix = log.levelPrefix(log.prefix, level);
        const stored = await log.store.list(prefix);
        return stored.flatMap(
          ({ key, size }) => parseLogFile(level, key.slice(prefix.length), size) ?? [],
        );
      };
      const newest = async () => (await filesOf(0)).at(-1)?.max ?? 0;
      let missing = 0;
      let removedAt = 0;
      let key = "";
      let removed: { bytes: Uint8Array } | undefined;
      const isMerged = async () =>
        (await filesOf(1)).some(({ min, max }) => min <= missing && missing <= max);
      do {
        // The replica may have copied files that it has not applied or counted yet, but none that is uploaded from now on.
        missing = (await newest()) + 2;
        const name = logFileName({ level: 0, min: missing, max: missing, size: 0 });
        key = log.levelPrefix(log.prefix, 0) + name;
        await eventually(async () => (await log.store.get(key)) !== undefined);
        removed = await log.store.get(key);
        await log.store.remove([key]);
        removedAt = Date.now();
        // A merger that has begun before ends meanwhile. Later ones fail at the hole.
        const later = missing + 20;
        await eventually(async () => (await newest()) > later);
      } while (await isMerged());
      await log.link.mend();
      const observed = await log.observe(0, async () => {
        await eventually(() => log.following().state().txid === missing - 1);
        await Bun.sleep(rounds(2_000, 30_000));
        expect(log.following().state().txid).toBe(missing - 1);
        expect(log.following().state().asOf).toBeLessThan(removedAt);
        await log.store.put(key, removed?.bytes as Uint8Array);
        report("hole in the log", { recoveredMs: await log.caughtUp() });
      });
      expectWhole(observed);
      expect(log.following().state().restores).toBe(0);
    },
    TIMEOUT_MS,
  );

  waitingTest(
    "whose file another program keeps locked is restored into another one",
    async () => {
      await using log = await startFollowedLog("updates", 20);
      await log.caughtUp();
      const before = log.following().db.path;
      const program = join(import.meta.dir, "..", "support", "processes", "lock-database.ts");
      const other = Bun.spawn([process.execPath, program, before], {
        stdin: "pipe",
        stdout: "pipe",
      });
      await other.stdout.getReader().read();
      const startedAt = performance.now();
      const observed = await log.observe(0, async () => {
        await eventually(() => log.following().state().restores > 0);
        await log.caughtUp();
      });
      const recoveredMs = Math.round(performance.now() - startedAt);
      report("file locked", { recoveredMs, ...observed });
      other.kill("SIGKILL");
      await other.exited;
      expect(observed).toMatchObject({ torn: 0, stale: 0, backwards: 0 });
      expect(observed.refused).toBeGreaterThan(5);
      expect(log.following().db.path).not.toBe(before);
      expectWithin(recoveredMs, 30_000);
    },
    TIMEOUT_MS,
  );

  test(
    "whose file is damaged is restored into another one",
    async () => {
      await using log = await startFollowedLog("updates", 20);
      await log.caughtUp();
      await log.writer.stopWriting();
      await log.caughtUp();
      const before = log.following().db.path;
      const { size } = statSync(before);
      const file = openSync(before, "r+");
      // The first page stays, so that the file is still a database.
      for (let at = 4_096; at < size; at += 4_096)
        writeSync(file, Buffer.alloc(1_024), 0, 1_024, at);
      closeSync(file);
      const now = Date.now() / 1_000;
      utimesSync(`${before}-txid`, now, now);
      await log.observe(1_000);
      await eventually(() => log.following().state().restores > 0);
      await log.caughtUp();
      expect(log.following().db.path).not.toBe(before);
      expect(existsSync(before)).toBe(false);
      expectWhole(await log.observe(1_000));
    },
    TIMEOUT_MS,
  );

  test(
    "is followed after a restart of the replica from where it was",
    async () => {
      await using log = await startFollowedLog("updates", 20);
      await log.caughtUp();
      const path = log.following().db.path;
      await log.restart();
      expect(log.following().state().txid).toBeGreaterThan(0);
      await log.caughtUp();
      expect(log.following().db.path).toBe(path);
      expectWhole(await log.observe(1_000));
      expect(log.following().state()).toMatchObject({ restarts: 0, restores: 0 });
    },
    TIMEOUT_MS,
  );

  test(
    "is followed by one process alone, though one of a killed replica goes on",
    async () => {
      await using log = await startFollowedLog("updates", 20);
      await log.caughtUp();
      let leftover: ChildProcess | undefined;
      await log.restart(async (path) => {
        const folder = join(log.replica, "log", log.prefix);
        const started = startFollower({ program: log.program, log: log.log }, path, folder);
        await eventually(() => commandOf(started.pid).includes(path));
        leftover = started;
      });
      expect(await leftover?.ended).toBe("SIGKILL");
      await log.caughtUp();
      expectWhole(await log.observe(1_000));
    },
    TIMEOUT_MS,
  );

  test(
    "is applied to its end when the replica becomes the primary",
    async () => {
      await using log = await startFollowedLog("updates", 20);
      await log.caughtUp();
      await log.writer.stopWriting();
      await eventually(() => log.writer.uploadedAt(Date.now()) === log.writer.newest());
      const path = await log.following().finish(5_000);
      const sqlite = new Database(path);
      const [[least, most] = []] = sqlite.prepare("SELECT min(n), max(n) FROM numbers").values();
      expect(least).toBe(most);
      // The writer can be killed between its last commit and the report of it.
      expect([log.writer.newest(), log.writer.newest() + 1]).toContain(Number(most));
      expect(sqlite.prepare("PRAGMA integrity_check").values()).toEqual([["ok"]]);
      sqlite.close(true);
    },
    TIMEOUT_MS,
  );

  test(
    "is listed at once when hints of the primary cease",
    async () => {
      await using log = await startFollowedLog("updates", 20);
      await log.caughtUp();
      const listedAt = () => log.following().state().confirmedAt ?? 0;
      for (const arrive of [false, true]) {
        log.hints.arrive = arrive;
        const before = listedAt();
        await eventually(() => listedAt() > before);
      }
      const ceasedAt = performance.now();
      log.hints.arrive = false;
      await eventually(() => listedAt() >= ceasedAt);
      // The next listing was due after five seconds.
      expectWithin(performance.now() - ceasedAt, 3_000);
    },
    TIMEOUT_MS,
  );

  test(
    "is left for that of another primary, which is restored beside it",
    async () => {
      await using log = await startFollowedLog("updates", 20);
      await log.caughtUp();
      const before = log.following().db.path;
      await using other = await log.startWriter("term-000002-1", "other");
      log.following().changePrefix("term-000002-1");
      await eventually(() => log.following().state().prefix === "term-000002-1");
      await log.caughtUp(other);
      expect(log.following().db.path).not.toBe(before);
      expect(existsSync(before)).toBe(false);
      expect(existsSync(join(log.replica, "log", "term-000001-1"))).toBe(false);
    },
    TIMEOUT_MS,
  );

  test(
    "of an earlier run is read until that of another primary is restored",
    async () => {
      await using log = await startFollowedLog("updates", 20);
      await log.caughtUp();
      await using other = await log.startWriter("term-000002-1", "other");
      const before = log.following().db.path;
      await log.link.cut();
      await log.restart(undefined, "term-000002-1");
      expectWhole(await log.observe(1_000));
      expect(log.following().db.path).toBe(before);
      expect(log.following().state()).toMatchObject({ prefix: "term-000001-1", asOf: undefined });
      await log.link.mend();
      await eventually(() => log.following().state().prefix === "term-000002-1");
      await log.caughtUp(other);
      expect(log.following().db.path).not.toBe(before);
    },
    TIMEOUT_MS,
  );
});
