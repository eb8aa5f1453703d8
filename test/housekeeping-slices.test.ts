import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Tx } from "../src/db/statements";
import { closeSqlite, openSqlite, pragma } from "../src/db/open";
import { recordAudits } from "../src/events/audit";
import { trimKeyUse } from "../src/features/keys/usage";
import { addToHour, listKeyHoursSince } from "../src/features/keys/store";
import { rollUp } from "../src/features/monitors/rollup";
import { startHousekeeping } from "../src/background";
import { CLI_ACTOR } from "../src/base/actor";
import { DAY_MS, HOUR_MS, MINUTE_MS, startOfDay } from "../src/base/time";
import { settle, TEST_START } from "./support/clock";
import { check, type MonitorStore, openMonitorStore } from "./support/monitor-store";
import { createKey } from "./support/examined";

/** Time from the start to the first run. */
const FIRST_RUN_MS = 300_000;

/** Duration of each transaction on the test's clock, in ms. */
const STEP_MS = 10;
const OLD_ROWS = 20_000;

const folder = mkdtempSync(join(tmpdir(), "allclear-slices-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Transaction of a store, in ms on the monotonic clock. */
interface Written {
  from: number;
  to: number;
  rows: number;
}

/** Makes every transaction take `STEP_MS` on the clock of the store, and lists them. */
function watchWrites({ ctx, clock }: MonitorStore): Written[] {
  const written: Written[] = [];
  const monotonic = clock.monotonic;
  let workedMs = 0;
  clock.monotonic = () => monotonic() + workedMs;
  const { write } = ctx.db;
  ctx.db.write = async (change) => {
    const from = clock.monotonic();
    let rows = 0;
    const value = await write((tx: Tx) => {
      const before = tx.statements.written;
      const result = change(tx);
      rows = tx.statements.written - before;
      return result;
    });
    workedMs += STEP_MS;
    written.push({ from, to: clock.monotonic(), rows });
    return value;
  };
  return written;
}

/** Stores entries of the audit log that are past their retention, each of about 1 kB. */
function addOldAudits({ ctx }: MonitorStore): Promise<void> {
  const entry = { actor: CLI_ACTOR, action: "key.update", targetId: "key_1" };
  const at = TEST_START - 500 * DAY_MS;
  const entries = Array.from({ length: OLD_ROWS }, (_, index) => ({
    ...entry,
    summary: `${index} `.padEnd(1_000, "x"),
    at,
  }));
  return ctx.db.write((tx) => recordAudits(tx, entries));
}

function countAudits({ sqlite }: MonitorStore): number {
  return (
    sqlite.query<{ rows: number }, []>("SELECT count(*) AS rows FROM audit_log").get()?.rows ?? -1
  );
}

describe("a run of housekeeping over many rows", () => {
  test("the first run begins five minutes after the start", async () => {
    using store = openMonitorStore();
    await addOldAudits(store);
    const keeping = startHousekeeping(store.ctx);
    await store.clock.advance(5 * MINUTE_MS - 1);
    expect(countAudits(store)).toBe(OLD_ROWS);
    await store.clock.advance(1);
    for (let turn = 0; turn < OLD_ROWS / 500; turn++) await settle();
    expect(countAudits(store)).toBe(0);
    keeping.cancel();
  });

  test("each transaction changes at most 2,000 rows, and a rest of twice its duration follows", async () => {
    using store = openMonitorStore();
    await addOldAudits(store);
    const written = watchWrites(store);
    const keeping = startHousekeeping(store.ctx);
    await store.clock.advance(FIRST_RUN_MS + MINUTE_MS);
    keeping.cancel();
    expect(countAudits(store)).toBe(0);
    expect(written.length).toBeGreaterThan(OLD_ROWS / 2_000);
    expect(Math.max(...written.map(({ rows }) => rows))).toBeLessThanOrEqual(2_000);
    const rests = written.slice(1).map(({ from }, index) => from - (written[index]?.to ?? 0));
    expect(Math.min(...rests)).toBeGreaterThanOrEqual(2 * STEP_MS);
  });

  test("another writer is served during the rest after each transaction", async () => {
    using store = openMonitorStore();
    await addOldAudits(store);
    const { write } = store.ctx.db;
    const written = watchWrites(store);
    const keeping = startHousekeeping(store.ctx);
    await store.clock.advance(FIRST_RUN_MS);
    let turns = 0;
    while (countAudits(store) > 0) {
      const before = written.length;
      await write(() => {});
      await settle();
      // The housekeeping rests, however many turns pass.
      expect(written).toHaveLength(before);
      await store.clock.advance(2 * STEP_MS);
      expect(written).toHaveLength(before + 1);
      turns += 1;
    }
    expect(turns).toBeGreaterThan(OLD_ROWS / 2_000);
    keeping.cancel();
  });

  test("a run that a stop interrupts continues after the next start", async () => {
    using store = openMonitorStore();
    await addOldAudits(store);
    watchWrites(store);
    const first = startHousekeeping(store.ctx);
    await store.clock.advance(FIRST_RUN_MS + 30 * STEP_MS);
    first.cancel();
    const left = countAudits(store);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(OLD_ROWS);
    await store.clock.advance(2 * HOUR_MS);
    expect(countAudits(store)).toBe(left);
    const second = startHousekeeping(store.ctx);
    await store.clock.advance(FIRST_RUN_MS + MINUTE_MS);
    second.cancel();
    expect(countAudits(store)).toBe(0);
  });

  test("a part of the run that fails is logged, and the others run", async () => {
    using store = openMonitorStore();
    await addOldAudits(store);
    store.sqlite.run(
      "INSERT INTO form_submissions (hash, subject_id, at) VALUES (zeroblob(32), 'a', 0)",
    );
    store.sqlite.run(
      "CREATE TRIGGER fails BEFORE DELETE ON form_submissions BEGIN SELECT RAISE(ABORT, 'no'); END",
    );
    const keeping = startHousekeeping(store.ctx);
    await store.clock.advance(FIRST_RUN_MS);
    for (let turn = 0; turn < OLD_ROWS / 500; turn++) await settle();
    expect(countAudits(store)).toBe(0);
    expect(store.logged.filter(({ msg }) => msg.includes("cleared away"))).toHaveLength(1);
    keeping.cancel();
  });

  test("the file gives its space back in slices and keeps some of it free for new rows", async () => {
    const path = join(folder, "shrinks.db");
    using store = openMonitorStore(path);
    await addOldAudits(store);
    store.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
    const before = statSync(path).size;
    const written = watchWrites(store);
    const free: number[] = [];
    const keeping = startHousekeeping(store.ctx);
    await store.clock.advance(FIRST_RUN_MS);
    for (let round = 0; round < 200; round++) {
      free.push(store.ctx.db.figures().freeBytes);
      await store.clock.advance(2 * STEP_MS);
    }
    keeping.cancel();
    store.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
    expect(statSync(path).size).toBeLessThan(before / 4);
    const steps = free.slice(1).map((bytes, index) => (free[index] ?? 0) - bytes);
    expect(Math.max(...steps)).toBeLessThanOrEqual(256 * 4_096);
    expect(free.at(-1)).toBeGreaterThanOrEqual(256 * 4_096);
    expect(written.length).toBeGreaterThan(10);
  });

  test("a file without auto_vacuum keeps its size, and the run ends", async () => {
    const path = join(folder, "fixed.db");
    openMonitorStore(path)[Symbol.dispose]();
    const sqlite = openSqlite(path, 0);
    for (const text of ["journal_mode = DELETE", "auto_vacuum = NONE"])
      sqlite.run(`PRAGMA ${text}`);
    sqlite.run("VACUUM");
    closeSqlite(sqlite);
    using store = openMonitorStore(path);
    expect(pragma(store.sqlite, "auto_vacuum")).toBe(0);
    await addOldAudits(store);
    const { sizeBytes } = store.ctx.db.figures();
    const written = watchWrites(store);
    const keeping = startHousekeeping(store.ctx);
    await store.clock.advance(FIRST_RUN_MS + MINUTE_MS);
    const { length } = written;
    await store.clock.advance(MINUTE_MS);
    expect(written).toHaveLength(length);
    expect(countAudits(store)).toBe(0);
    expect(store.ctx.db.figures().sizeBytes).toBe(sizeBytes);
    keeping.cancel();
  });
});

describe("bounded transactions of other retention", () => {
  test("hours of keys that were never merged are merged in parts, and none is lost", async () => {
    using store = openMonitorStore();
    const { ctx } = store;
    const today = startOfDay(TEST_START);
    const days = 120;
    const ids = await ctx.db.write((tx) =>
      Array.from({ length: 3 }, () => {
        const { key } = createKey(ctx, tx, { name: "test", scopes: ["read:status"] }, CLI_ACTOR);
        for (let hour = 0; hour < days * 24; hour++) {
          const at = today - days * DAY_MS + hour * HOUR_MS;
          addToHour(tx, { keyId: key.id, hour: at, ok: 1, clientError: 0, limited: 0 });
        }
        return key.id;
      }),
    );
    const written = watchWrites(store);
    const kept = { now: TEST_START, hoursDays: 35, addressesDays: 90 };
    let key: string | undefined = "";
    while (key !== undefined) {
      const after: string = key;
      key = await ctx.db.write((tx) => trimKeyUse(tx, kept, after));
    }
    expect(Math.max(...written.map(({ rows }) => rows))).toBeLessThanOrEqual(1_000);
    for (const keyId of ids) {
      const hours = listKeyHoursSince(ctx.db, { keyId, since: 0 });
      expect(hours).toHaveLength(days - 35 + 35 * 24);
      expect(hours.reduce((sum, { ok }) => sum + ok, 0)).toBe(days * 24);
    }
  });

  test("results of many monitors beyond a shortened retention are deleted in parts", async () => {
    using store = openMonitorStore();
    const from = startOfDay(TEST_START);
    for (let i = 0; i < 20; i++) {
      const { num } = await store.monitor({ createdAt: from });
      await store.record(
        ...Array.from({ length: 2_000 }, (_, n) => check(num, from + n * 1_000, 5)),
      );
    }
    const kept = { resultsMs: 0, minutesMs: 0, hoursMs: 400 * DAY_MS };
    // Rolled up with the usual retention first.
    const usual = { ...kept, resultsMs: 48 * HOUR_MS, minutesMs: 7 * DAY_MS };
    while (await store.ctx.db.write((tx) => rollUp(tx, { now: TEST_START }, usual)));
    const written = watchWrites(store);
    const now = TEST_START + 2 * HOUR_MS;
    while (await store.ctx.db.write((tx) => rollUp(tx, { now }, kept)));
    expect(Math.max(...written.map(({ rows }) => rows))).toBeLessThanOrEqual(3 * 4_000);
    const sql = "SELECT count(*) AS rows FROM monitor_checks";
    expect(store.sqlite.query<{ rows: number }, []>(sql).get()?.rows).toBe(0);
  });
});
