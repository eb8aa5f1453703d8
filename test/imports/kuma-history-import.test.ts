import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { ImportReport } from "../../src/base/import-report";
import { readUptimeKuma } from "../../src/imports/uptime-kuma/read";
import { findMonitorByRef } from "../../src/features/monitors/store";
import { getMonitorRecord } from "../../src/features/monitors/records";
import { listSpans } from "../../src/features/monitors/spans-store";
import { HOUR_MS, MINUTE_MS } from "../../src/base/time";
import { createTestApp, type TestApp } from "../support/app";
import { createTestClock } from "../support/clock";
import { createKumaDatabase } from "../support/kuma-database";
import { writeLargeKuma } from "../support/large-kuma";
import { dumpRows } from "../support/past-dump";
import { importPast } from "../support/past-source";
import { temporaryFolder } from "../support/temporary-folder";

const FIXTURES = join(import.meta.dir, "fixtures/uptime-kuma");

/** Time of applications that import other databases. */
const NOW = Date.UTC(2026, 2, 24, 12);

/** Time and uptimes, in percent, that Uptime Kuma 2.5.3 showed with the database. */
const SHOWN = JSON.parse(readFileSync(join(FIXTURES, "2.5.3-history.json"), "utf8")) as {
  now: string;
  uptimes: Record<string, Record<"1440m" | "30d", number>>;
};
const SHOWN_AT = Date.parse(SHOWN.now);

/** Imports a database that a test writes, with its history. */
async function importedFrom(write: (path: string) => void | Promise<void>, now = NOW) {
  const folder = temporaryFolder();
  const path = join(folder.path, "kuma.db");
  await write(path);
  const app = await createTestApp({ clock: createTestClock(now) });
  const run = async (): Promise<ImportReport> => {
    const found = await readUptimeKuma(path, { now: app.clock.now() });
    using _history = found.history;
    return await importPast(app, found);
  };
  return {
    app,
    path,
    run,
    report: await run(),
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

const importedFixture = () =>
  importedFrom(async (path) => {
    await Bun.write(path, gunzipSync(readFileSync(join(FIXTURES, "2.5.3-history.db.gz"))));
  }, SHOWN_AT);

/** Returns the past of a monitor: its states of a minute and more, with the numbers of hours ago at which they began. */
function pastOf({ ctx, clock }: TestApp, ref: string) {
  const { num } = findMonitorByRef(ctx.db, { ref }) ?? { num: -1 };
  const now = clock.now();
  const all = { nums: JSON.stringify([num]), from: 0, to: Number.MAX_SAFE_INTEGER };
  return listSpans(ctx.db, all).flatMap(({ row: { state, startedAt, endedAt } }) =>
    startedAt < now && (endedAt ?? now) - startedAt >= MINUTE_MS
      ? [[state, Math.round(((now - startedAt) / HOUR_MS) * 100) / 100]]
      : [],
  );
}

/** Returns the percentage that the badge of a monitor shows, as clients of Uptime Kuma ask for it. */
async function uptimeShown(app: TestApp, number: number, duration: string): Promise<number> {
  const { text } = await app.call(`/api/badge/${number}/uptime/${duration}`);
  return Number(/>([\d.]+)%</.exec(text)?.[1]);
}

describe("the import of a history that Uptime Kuma 2.5.3 has summed up", () => {
  test.each([
    [1, "Regular", 0.1],
    [2, "Maintained", 0.1],
    // Uptime Kuma counts beats, and here time: half an hour is much where many hours have none.
    [3, "Interrupted", 0.4],
  ])("shows the uptimes of monitor %i, %s, to %d points", async (number, name, points) => {
    await using source = await importedFixture();
    for (const duration of ["1440m", "30d"] as const) {
      const ours = await uptimeShown(source.app, number, duration);
      const difference = Math.abs(ours - (SHOWN.uptimes[name]?.[duration] ?? NaN));
      expect(difference).toBeLessThan(points);
    }
  });

  test("has the outages, from the first pending beat where it is kept", async () => {
    await using source = await importedFixture();
    expect(pastOf(source.app, "regular").slice(1)).toEqual([
      ["down", 700.5],
      ["up", 670.5],
      ["down", 400],
      ["up", 399],
      ["down", 10],
      ["up", 8],
    ]);
  });

  test("has maintenance", async () => {
    await using source = await importedFixture();
    expect(pastOf(source.app, "maintained").slice(1)).toEqual([
      ["maintenance", 500],
      ["down", 452],
      ["up", 440],
      ["maintenance", 6],
      ["down", 3],
      ["up", 2],
    ]);
  });

  test("has no data where there are neither beats nor sums", async () => {
    await using source = await importedFixture();
    const states = pastOf(source.app, "interrupted").map(([state]) => state);
    expect(states).toEqual(["up", "no_data", "up", "down", "up", "no_data", "down", "up"]);
    expect(pastOf(source.app, "without-beats")).toEqual([]);
    const gaps = dumpRows(source.app).component_no_data as {
      component: string;
      startedAt: number;
      endedAt: number;
    }[];
    const hours = gaps
      .filter(({ component }) => component === "interrupted")
      .map(({ startedAt, endedAt }) => (endedAt - startedAt) / HOUR_MS);
    // Of older times there are only sums of whole hours.
    const [older = 0, recent = 0, ...others] = hours;
    expect(others).toEqual([]);
    expect(older).toBeWithin(70, 72.1);
    expect(recent).toBeWithin(4.9, 5.1);
  });

  test("counts all results that Uptime Kuma has summed up", async () => {
    await using source = await importedFixture();
    expect(source.report.history).toMatchObject({ days: 41, skipped: {} });
    expect(source.report.history?.results).toBeGreaterThan(18_000);
  });

  test("changes nothing when it is run again", async () => {
    await using source = await importedFixture();
    const before = dumpRows(source.app);
    expect(await source.run()).toMatchObject({ id: null, history: null });
    expect(dumpRows(source.app)).toEqual(before);
  });
});

describe("the import of heartbeats of Uptime Kuma", () => {
  /** Writes a monitor that is checked every minute, with beats of the given statuses up to now. */
  const writeStatuses = (path: string, statuses: readonly (number | undefined)[]) => {
    using sqlite = createKumaDatabase(path, 1);
    sqlite.run(
      "INSERT INTO monitor (name, interval, type, url) VALUES ('Shop', 60, 'http', 'http://192.0.2.1/')",
    );
    const insert = sqlite.prepare(
      "INSERT INTO heartbeat (monitor_id, important, status, time, ping, msg) VALUES (1, ?, ?, ?, ?, ?)",
    );
    let before: number | undefined;
    for (const [index, status] of statuses.entries()) {
      if (status === undefined) continue;
      const at = NOW - (statuses.length - index) * MINUTE_MS;
      const time = new Date(at).toISOString().slice(0, 19).replace("T", " ");
      const isImportant = status !== 2 && status !== before;
      insert.run(isImportant ? 1 : 0, status, time, status === 1 ? 12.5 : null, `status ${status}`);
      if (status !== 2) before = status;
    }
  };
  const times = <Value>(count: number, value: Value) => Array.from({ length: count }, () => value);

  test("dates an outage from its first pending beat, and a recovered failure not at all", async () => {
    const statuses = [
      ...times(60, 1),
      2,
      2,
      ...times(30, 1),
      2,
      2,
      ...times(20, 0),
      ...times(10, 1),
    ];
    await using source = await importedFrom((path) => writeStatuses(path, statuses));
    const minutes = pastOf(source.app, "shop").map(([state, hours]) => [
      state,
      Math.round(Number(hours) * 60),
    ]);
    expect(minutes).toEqual([
      ["up", 124],
      ["down", 32],
      ["up", 10],
    ]);
  });

  test("leaves a monitor down that is down, without telling anybody", async () => {
    const statuses = [...times(60, 1), 2, ...times(20, 0)];
    await using source = await importedFrom((path) => writeStatuses(path, statuses));
    const { app } = source;
    const { id = "" } = findMonitorByRef(app.ctx.db, { ref: "shop" }) ?? {};
    expect(getMonitorRecord(app.ctx.db, id)).toMatchObject({
      state: { state: "down" },
    });
    expect(pastOf(app, "shop").at(-1)).toEqual(["down", 0.35]);
    expect(app.events().filter(({ type }) => type.startsWith("monitor."))).toEqual([]);
  });

  test("has no data where more than ten minutes and three intervals have no beat", async () => {
    const gap = (minutes: number) => times(minutes, undefined);
    const statuses = [...times(60, 1), ...gap(9), ...times(60, 1), ...gap(30), ...times(20, 1)];
    await using source = await importedFrom((path) => writeStatuses(path, statuses));
    const states = pastOf(source.app, "shop").map(([state]) => state);
    expect(states).toEqual(["up", "no_data", "up"]);
  });

  test("reads a clock that was set back as it was written, in the order of time", async () => {
    await using source = await importedFrom((path) => {
      writeStatuses(path, times(120, 1));
      using sqlite = new Database(path);
      sqlite.run(
        "INSERT INTO heartbeat (monitor_id, status, time) SELECT 1, 1, time FROM heartbeat WHERE id BETWEEN 10 AND 30",
      );
    });
    expect(source.report.history).toMatchObject({ results: 141, skipped: {} });
    expect(pastOf(source.app, "shop")).toEqual([["up", 2]]);
  });

  test("counts those that it leaves out in its report", async () => {
    await using source = await importedFrom((path) => {
      writeStatuses(path, times(10, 1));
      using sqlite = new Database(path);
      const insert = sqlite.prepare(
        "INSERT INTO heartbeat (monitor_id, status, time) VALUES (?, ?, ?)",
      );
      insert.run(9, 1, "2026-03-24 11:00:00");
      insert.run(1, 1, "1970-01-01 00:00:10");
      insert.run(1, 1, "2030-01-01 00:00:00");
      insert.run(1, 7, "2026-03-24 11:00:00");
    });
    expect(source.report.history).toMatchObject({
      results: 10,
      skipped: {
        "of a deleted monitor": 1,
        "before 2021": 1,
        "in the future": 1,
        unreadable: 1,
      },
    });
  });

  test("takes over every beat of 30,000", async () => {
    await using source = await importedFrom((path) =>
      writeLargeKuma(path, { monitors: 3, beats: 30_000, until: NOW - 60_000 }),
    );
    using sqlite = new Database(source.path, { readonly: true });
    const row = sqlite
      .prepare<{ results: number }, []>(
        "SELECT count(*) AS results FROM heartbeat WHERE status <> 3",
      )
      .get();
    expect(source.report.history).toMatchObject({ ...row, skipped: {} });
    expect(row?.results).toBeGreaterThan(29_900);
  });
});
