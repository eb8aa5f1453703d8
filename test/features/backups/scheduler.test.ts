import { describe, expect, test } from "bun:test";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createAlarms } from "../../../src/features/alarms/alarms";
import { encryptFile, isEncrypted } from "../../../src/features/backups/age";
import { type Backups, createBackups } from "../../../src/features/backups/backups";
import { readScheduledBackups } from "../../../src/features/backups/schedule";
import { startBackupSchedule } from "../../../src/features/backups/scheduler";
import { restoreDatabase } from "../../../src/db/restore";
import { openDataDirectory } from "../../../src/db/data-directory";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../src/base/time";
import { createTestApp } from "../../support/app";
import { createTestClock, settle } from "../../support/clock";
import { temporaryFolder } from "../../support/temporary-folder";
import { hasTinyDisks, mountTinyDisk } from "../../support/tiny-disk";

const START = Date.parse("2026-11-29T12:00:00Z");
const isRoot = process.getuid?.() === 0;

interface Options {
  place?: string;
  env?: Record<string, string>;
  /** Runs before the database is copied. */
  beforeCopy?: (signal: AbortSignal) => Promise<void> | void;
}

/** An application whose scheduled backups go to a folder. */
async function createSite({ place, env = {}, beforeCopy }: Options = {}) {
  const folder = temporaryFolder();
  const to = place ?? join(folder.path, "place");
  const clock = createTestClock(START);
  const app = await createTestApp({ clock, env: { ALLCLEAR_BACKUP_TO: to, ...env } });
  const { ctx } = app;
  const staged = join(folder.path, "staged");
  const begin = () => {
    const backups = createBackups(ctx, {
      folder: () => staged,
      async copy(_, file, signal, recipients) {
        await beforeCopy?.(signal);
        if (signal.aborted) return "aborted";
        ctx.db.copyTo(file);
        if (recipients.length === 0) return undefined;
        await encryptFile(file, `${file}.age`, recipients);
        rmSync(file);
        return undefined;
      },
    });
    const alarms = createAlarms(ctx);
    return { backups, alarms, schedule: startBackupSchedule({ ctx, backups, alarms }) };
  };
  let running = begin();
  const end = async () => {
    await running.schedule.stop();
    await running.alarms.stop();
  };
  const site = {
    app,
    ctx,
    clock,
    place: to,
    /** Lets time pass, and waits for the backup that begins. */
    async pass(ms: number) {
      // In steps, so that files are written before their deadlines.
      for (let left = ms; left > 0; left -= MINUTE_MS) {
        await clock.advance(Math.min(left, MINUTE_MS));
        await running.schedule.settled();
        await settle();
      }
    },
    running: () => running,
    /** Ends this process and begins the next. */
    async restart(whileOff: () => void = () => {}) {
      await end();
      whileOff();
      running = begin();
    },
    names: () => (existsSync(to) ? readdirSync(to).toSorted() : []),
    records: () => readScheduledBackups(ctx.db),
    alarms: () => running.alarms.list().map(({ kind, detail }) => ({ kind, detail })),
    /** Files that are not yet in their place. */
    staged: () => (existsSync(staged) ? readdirSync(staged) : []),
    async [Symbol.asyncDispose]() {
      await end();
      await app[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
  return site;
}

describe("a scheduled backup", () => {
  test("the first one is written ten seconds after the start, and each next one at its time", async () => {
    await using site = await createSite();
    await site.pass(10 * SECOND_MS - 1);
    expect(site.names()).toEqual([]);
    await site.pass(1);
    const first = "allclear-backup-2026-11-29T12-00-10Z.db";
    expect(site.names()).toEqual([first]);
    await site.pass(15 * HOUR_MS - 10 * SECOND_MS - 1);
    expect(site.names()).toEqual([first]);
    await site.pass(1);
    const second = "allclear-backup-2026-11-30T03-00-00Z.db";
    expect(site.names()).toEqual([first, second]);
    await site.pass(DAY_MS);
    expect(site.names()).toHaveLength(3);
    const file = join(site.place, second);
    expect(site.records()[1]).toEqual({
      dueAt: Date.parse("2026-11-30T03:00Z"),
      at: Date.parse("2026-11-30T03:00Z"),
      target: expect.stringMatching(/^[\da-f]{16}$/),
      place: site.place,
      name: second,
      bytes: statSync(file).size,
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(site.staged()).toEqual([]);
    expect(site.alarms()).toEqual([]);
  });

  test("it restores with a verified digest", async () => {
    await using site = await createSite();
    await site.app.page({ slug: "acme" });
    await site.pass(MINUTE_MS);
    using folder = temporaryFolder();
    const directory = openDataDirectory(join(folder.path, "data"));
    const report = restoreDatabase(directory, join(site.place, site.names()[0] ?? ""));
    expect(report.isVerified).toBe(true);
  });

  test("it is encrypted for its recipients, and no plain file is left", async () => {
    const recipient = await identityToRecipient(await generateX25519Identity());
    await using site = await createSite({ env: { ALLCLEAR_BACKUP_AGE_RECIPIENT: recipient } });
    await site.pass(MINUTE_MS);
    expect(site.names()).toEqual(["allclear-backup-2026-11-29T12-00-10Z.db.age"]);
    const file = join(site.place, site.names()[0] ?? "");
    expect(await isEncrypted(file)).toBe(true);
    expect(readFileSync(file).includes("SQLite format 3")).toBe(false);
    expect(site.staged()).toEqual([]);
  });

  test("only its own old files are removed", async () => {
    await using site = await createSite({ env: { ALLCLEAR_BACKUP_KEEP: "2" } });
    mkdirSync(site.place);
    const others = ["before-schema-3.db", "allclear-2026-01-01T00-00-00Z.db", "notes.txt"];
    for (const name of others) writeFileSync(join(site.place, name), "mine");
    mkdirSync(join(site.place, "other"));
    const nested = join(site.place, "other", "allclear-backup-2026-01-01T00-00-00Z.db");
    writeFileSync(nested, "mine");
    writeFileSync(join(site.place, "allclear-backup-2026-01-01T00-00-00Z.db.age"), "old");
    for (let day = 0; day < 4; day++) await site.pass(DAY_MS);
    expect(site.names()).toEqual(
      [
        "allclear-backup-2026-12-02T03-00-00Z.db",
        "allclear-backup-2026-12-03T03-00-00Z.db",
        "other",
        ...others,
      ].toSorted(),
    );
    expect(existsSync(nested)).toBe(true);
  });

  test("with --backup-keep 0 none is removed", async () => {
    await using site = await createSite({ env: { ALLCLEAR_BACKUP_KEEP: "0" } });
    for (let day = 0; day < 20; day++) await site.pass(DAY_MS);
    expect(site.names()).toHaveLength(21);
  });

  test("one that was missed while the server was off is written after its start, once", async () => {
    await using site = await createSite();
    await site.pass(DAY_MS);
    expect(site.names()).toHaveLength(2);
    await site.restart(() => site.clock.stall(3 * DAY_MS));
    await site.pass(MINUTE_MS);
    expect(site.names().at(-1)).toBe("allclear-backup-2026-12-03T12-00-10Z.db");
    expect(site.names()).toHaveLength(3);
    await site.restart();
    await site.pass(HOUR_MS);
    expect(site.names()).toHaveLength(3);
  });

  test("another place gets one at once", async () => {
    await using site = await createSite();
    await site.pass(HOUR_MS);
    const to = `${site.place}-2`;
    await site.restart(() => {
      site.ctx.config = { ...site.ctx.config, backupTo: { kind: "folder", path: to } };
    });
    await site.pass(MINUTE_MS);
    expect(readdirSync(to)).toHaveLength(1);
    expect(site.names()).toHaveLength(1);
  });

  test("no node writes one while another may be the primary", async () => {
    await using site = await createSite();
    let isPrimary = false;
    site.ctx.isPrimary = () => isPrimary;
    await site.pass(2 * DAY_MS);
    expect([site.names(), site.records()]).toEqual([[], []]);
    isPrimary = true;
    await site.pass(MINUTE_MS);
    expect(site.names()).toHaveLength(1);
    expect(site.app.events()).toEqual([]);
  });

  test("a node that is no longer the primary while it copies sends nothing", async () => {
    let isPrimary = true;
    await using site = await createSite({ beforeCopy: () => void (isPrimary = false) });
    site.ctx.isPrimary = () => isPrimary;
    await site.pass(MINUTE_MS);
    expect([site.names(), site.staged()]).toEqual([[], []]);
    // The primary writes it, so it has not failed.
    expect(site.alarms()).toEqual([]);
    expect(site.records()).toEqual([expect.not.objectContaining({ error: expect.anything() })]);
    isPrimary = true;
  });

  test("a node that is no longer the primary while it sends cancels that within a minute", async () => {
    await using site = await createSite();
    await site.running().schedule.stop();
    const sending = Promise.withResolvers<void>();
    let cancelled = 0;
    const takeFor: Backups["takeFor"] = (_, signal) => {
      sending.resolve();
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          cancelled += 1;
          reject(signal.reason as Error);
        });
      });
    };
    const { ctx, clock } = site;
    const { alarms } = site.running();
    const schedule = startBackupSchedule({ ctx, backups: { takeFor }, alarms });
    await clock.advance(10 * SECOND_MS);
    await sending.promise;
    ctx.isPrimary = () => false;
    await clock.advance(MINUTE_MS);
    await schedule.settled();
    expect([cancelled, site.alarms()]).toEqual([1, []]);
    // The time that another node had for it does not count.
    await clock.advance(3 * HOUR_MS);
    ctx.isPrimary = () => true;
    await clock.advance(MINUTE_MS);
    expect(site.alarms()).toEqual([]);
    await schedule.stop();
  });

  test("a node whose changes are refused copies nothing", async () => {
    let copies = 0;
    await using site = await createSite({ beforeCopy: () => void copies++ });
    site.ctx.db.write = async () => {
      throw new Error("another node is the primary");
    };
    await site.pass(MINUTE_MS);
    expect([copies, site.names()]).toEqual([0, []]);
  });
});

describe("a clock that is set", () => {
  test("forward over the time writes the backup, and back again repeats none", async () => {
    await using site = await createSite();
    await site.pass(HOUR_MS);
    site.clock.setWallClock(Date.parse("2026-11-30T03:30:00Z"));
    await site.pass(MINUTE_MS);
    expect(site.names()).toHaveLength(2);
    site.clock.setWallClock(Date.parse("2026-11-30T02:45:00Z"));
    await site.pass(HOUR_MS);
    expect(site.names()).toHaveLength(2);
    await site.pass(DAY_MS);
    expect(site.names()).toHaveLength(3);
  });

  test("back from a year ahead goes on with today's, and keeps what it writes", async () => {
    await using site = await createSite({ env: { ALLCLEAR_BACKUP_KEEP: "1" } });
    site.clock.setWallClock(START + 365 * DAY_MS);
    await site.pass(MINUTE_MS);
    expect(site.names()).toEqual(["allclear-backup-2027-11-29T12-00-10Z.db"]);
    site.clock.setWallClock(START);
    await site.pass(MINUTE_MS);
    expect(site.names()).toEqual(["allclear-backup-2026-11-29T12-00-10Z.db"]);
  });
});

describe("a backup that fails", () => {
  test("it raises an alarm, is tried again after growing pauses, and the next success ends the alarm", async () => {
    await using site = await createSite();
    // A file where the folder should be.
    writeFileSync(site.place, "");
    // Each minute ends with a look at the clock, so that a try fails at the time at which it began.
    await site.pass(10 * SECOND_MS);
    const error = `The store file://${site.place} failed (EEXIST: file already exists): write allclear-backup-2026-11-29T12-00-10Z.db.`;
    expect(site.alarms()).toEqual([
      {
        kind: "backup",
        detail: `The backup of 2026-11-29 03:00 UTC for ${site.place} is not complete. ${error} It is tried again until it works.`,
      },
    ]);
    expect(site.records()).toEqual([expect.objectContaining({ error })]);
    expect(site.staged()).toEqual([]);
    const tries: number[] = [];
    for (let minute = 1; minute < 5 * 60; minute++) {
      const [last] = site.records();
      await site.pass(MINUTE_MS);
      const [next] = site.records();
      if (next?.at !== last?.at) tries.push(minute);
    }
    // After 5, 10, 20, 40 and each 60 minutes.
    expect(tries).toEqual([5, 15, 35, 75, 135, 195, 255]);
    expect(site.records()).toHaveLength(1);
    rmSync(site.place);
    await site.pass(HOUR_MS);
    expect(site.records()).toEqual([expect.not.objectContaining({ error })]);
    expect(site.names()).toHaveLength(1);
    expect(site.alarms()).toEqual([]);
    await site.pass(MINUTE_MS);
    const states = site.app.events().map(({ data }) => [data["kind"], data["state"]]);
    expect(states).toEqual([
      ["backup", "raised"],
      ["backup", "cleared"],
    ]);
  });

  test("the alarm goes on after a restart until one is complete", async () => {
    await using site = await createSite();
    writeFileSync(site.place, "");
    await site.pass(MINUTE_MS);
    await site.restart();
    expect(site.alarms()).toHaveLength(1);
    rmSync(site.place);
    await site.pass(MINUTE_MS);
    expect(site.alarms()).toEqual([]);
    await site.pass(MINUTE_MS);
    const states = site.app.events().map(({ data }) => data["state"]);
    expect(states).toEqual(["raised", "cleared"]);
  });

  test("one that takes two hours counts as missing, and is cancelled after twelve", async () => {
    await using site = await createSite();
    await site.pass(HOUR_MS);
    const { running } = site;
    await running().schedule.stop();
    let cancelled = 0;
    const takeFor: Backups["takeFor"] = (_, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          cancelled += 1;
          reject(signal.reason as Error);
        });
      });
    const { ctx, clock } = site;
    const { alarms } = running();
    const schedule = startBackupSchedule({ ctx, backups: { takeFor }, alarms });
    await clock.advance(14 * HOUR_MS + HOUR_MS + 59 * MINUTE_MS);
    expect(site.alarms()).toEqual([]);
    await clock.advance(2 * MINUTE_MS);
    expect(site.alarms()).toEqual([
      {
        kind: "backup",
        detail: expect.stringContaining(
          "The backup of 2026-11-30 03:00 UTC for " +
            site.place +
            " is not complete. It is still being written.",
        ),
      },
    ]);
    expect(cancelled).toBe(0);
    await clock.advance(10 * HOUR_MS);
    expect(cancelled).toBe(1);
    expect(site.alarms()[0]?.detail).toContain("It took longer than 12 hours.");
    await schedule.stop();
  });

  test("an alarm of an earlier process goes on while the next one takes long", async () => {
    await using site = await createSite();
    writeFileSync(site.place, "");
    await site.pass(MINUTE_MS);
    await site.running().schedule.stop();
    await site.running().alarms.stop();
    const takeFor: Backups["takeFor"] = (_, signal) =>
      new Promise((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason as Error)),
      );
    const { ctx, clock } = site;
    // The second one finds that the first had begun again, so that the record has no error.
    for (let process = 0; process < 2; process++) {
      const alarms = createAlarms(ctx);
      const schedule = startBackupSchedule({ ctx, backups: { takeFor }, alarms });
      await clock.advance(10 * MINUTE_MS);
      expect(alarms.list()).toHaveLength(1);
      await schedule.stop();
      await alarms.stop();
      expect(site.records()[0]).not.toHaveProperty("error");
    }
    expect(site.app.events().map(({ data }) => data["state"])).toEqual(["raised"]);
  });

  test("one in a folder on the disk of the database needs room for two copies", async () => {
    await using site = await createSite();
    const { sizeBytes, walBytes } = site.ctx.db.figures();
    // A copy leaves as much again free.
    let freeBytes = 3 * (sizeBytes + walBytes);
    site.ctx.db.disk = async () => ({ freeBytes, totalBytes: 1e9 });
    await site.pass(MINUTE_MS);
    expect(site.alarms()[0]?.detail).toContain("The disk has no room for a backup");
    expect(site.names()).toEqual([]);
    const { backups } = site.running();
    const { signal } = new AbortController();
    const bucket = { recipients: [], folder: undefined };
    expect(await backups.takeFor(bucket, signal, async () => {})).toHaveProperty("bytes");
    freeBytes = 1e9;
    await site.pass(6 * MINUTE_MS);
    expect([site.names().length, site.alarms()]).toEqual([1, []]);
  });

  test("a file that was written in part by a killed process is removed, and never one of the backups", async () => {
    await using site = await createSite();
    mkdirSync(site.place);
    const left = join(site.place, ".allclear-1c9b2c1e-0000-4000-8000-000000000000");
    writeFileSync(left, "half");
    const old = (START - 2 * HOUR_MS) / SECOND_MS;
    utimesSync(left, old, old);
    await site.pass(MINUTE_MS);
    expect(site.names()).toEqual(["allclear-backup-2026-11-29T12-00-10Z.db"]);
  });

  test("a stop while it is written leaves nothing, and the next start writes it", async () => {
    const copying = Promise.withResolvers<void>();
    let isFirst = true;
    await using site = await createSite({
      async beforeCopy(signal) {
        if (!isFirst) return;
        isFirst = false;
        copying.resolve();
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      },
    });
    const passing = site.clock.advance(MINUTE_MS);
    await copying.promise;
    await passing;
    await site.restart();
    expect([site.names(), site.staged()]).toEqual([[], []]);
    expect(site.records()).toEqual([expect.not.objectContaining({ error: expect.anything() })]);
    await site.pass(MINUTE_MS);
    expect(site.names()).toHaveLength(1);
    expect(site.records()).toHaveLength(1);
  });

  test("it waits while a backup is downloaded, without an alarm for two hours", async () => {
    const copying = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    let isFirst = true;
    await using site = await createSite({
      async beforeCopy() {
        if (!isFirst) return;
        isFirst = false;
        copying.resolve();
        await end.promise;
      },
    });
    const request = new Request("http://status.test/");
    const download = site.running().backups.take(request, async () => {});
    await copying.promise;
    await site.pass(2 * MINUTE_MS);
    expect([site.names(), site.alarms()]).toEqual([[], []]);
    await site.pass(2 * HOUR_MS);
    expect(site.alarms()[0]?.detail).toContain("Another backup is being written.");
    end.resolve();
    await download;
    await site.pass(MINUTE_MS);
    expect([site.names().length, site.alarms()]).toEqual([1, []]);
  });

  test.skipIf(isRoot)("a folder without permission is named", async () => {
    await using site = await createSite();
    mkdirSync(site.place);
    chmodSync(site.place, 0o500);
    await site.pass(MINUTE_MS);
    expect(site.alarms()[0]?.detail).toContain("EACCES: permission denied");
    chmodSync(site.place, 0o700);
  });

  test.skipIf(!hasTinyDisks())("a full disk is named, and nothing is left on it", async () => {
    using disk = mountTinyDisk();
    await using site = await createSite({ place: join(disk.path, "place") });
    disk.fill(100_000);
    await site.pass(MINUTE_MS);
    expect(site.alarms()[0]?.detail).toContain("ENOSPC: no space left on device");
    expect(site.names()).toEqual([]);
    disk.free();
    await site.pass(6 * MINUTE_MS);
    expect([site.names().length, site.alarms()]).toEqual([1, []]);
  });
});

describe("a bucket", () => {
  const OLD = "allclear-backup-2026-01-01T00-00-00Z.db";
  const NEW = "allclear-backup-2026-11-29T12-00-10Z.db";

  interface Answers {
    list: number;
    remove: number;
    /** True if it keeps nothing of what it has accepted. */
    isLossy?: boolean;
  }

  /** Writes one backup into a bucket whose lists and removals are answered with these statuses. */
  async function writeTo(statuses: Answers, keep: string) {
    const objects = new Map([[OLD, 3]]);
    await using server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        const key = new URL(request.url).pathname.slice("/acme/".length);
        if (request.method === "PUT") {
          const { byteLength } = await request.arrayBuffer();
          if (!statuses.isLossy) objects.set(key, byteLength);
          return new Response("", { headers: { ETag: '"1"' } });
        }
        const status = request.method === "GET" ? statuses.list : statuses.remove;
        const error = "<Error><Code>AccessDenied</Code></Error>";
        if (status !== 200) return new Response(error, { status });
        if (request.method === "DELETE") objects.delete(key);
        const contents = Array.from(
          objects,
          ([key, size]) =>
            `<Contents><Key>${key}</Key><Size>${size}</Size><LastModified>2026-01-01T00:00:00Z</LastModified></Contents>`,
        );
        return new Response(`<ListBucketResult>${contents.join("")}</ListBucketResult>`);
      },
    });
    await using site = await createSite({
      place: `s3://acme?endpoint=http://127.0.0.1:${server.port}`,
      env: {
        ALLCLEAR_BACKUP_KEEP: keep,
        ALLCLEAR_BACKUP_STORE_KEY_ID: "KEYID",
        ALLCLEAR_BACKUP_STORE_SECRET: "hidden-secret",
      },
    });
    await site.pass(MINUTE_MS);
    const [record] = site.records();
    expect(JSON.stringify([site.app.logged, record])).not.toContain("hidden-secret");
    return { names: [...objects.keys()], record, alarms: site.alarms() };
  }

  /** Writes one backup, which is complete, and returns its warning. */
  async function warningOf(statuses: Answers, keep: string) {
    const { names, record, alarms } = await writeTo(statuses, keep);
    expect([names, alarms]).toEqual([[OLD, NEW], []]);
    expect(record?.bytes).toBeGreaterThan(100_000);
    return record?.warning;
  }

  test("one that does not let old backups be removed leads to a warning with the reason", async () => {
    expect(await warningOf({ list: 200, remove: 403 }, "1")).toBe(
      `Old backups were not removed. The store s3://acme answered 403 AccessDenied: remove ${OLD}.`,
    );
    expect(await warningOf({ list: 403, remove: 403 }, "1")).toBe(
      "Old backups were not removed. The store s3://acme answered 403 AccessDenied: list allclear-backup-.",
    );
  });

  test("with --backup-keep 0 there is no warning", async () => {
    expect(await warningOf({ list: 403, remove: 403 }, "0")).toBeUndefined();
  });

  test("one that has lost the new backup raises an alarm, and keeps its old ones", async () => {
    const { names } = await writeTo({ list: 200, remove: 200 }, "1");
    expect(names).toEqual([NEW]);
    const lossy = await writeTo({ list: 200, remove: 200, isLossy: true }, "1");
    expect(lossy.names).toEqual([OLD]);
    expect(lossy.record).not.toHaveProperty("bytes");
    expect(lossy.alarms[0]?.detail).toMatch(/The place has 0 of its \d+ bytes\./);
  });
});
