import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { PROCESS_TEST_MS } from "../../support/binary";
import { dumpRows } from "../../support/past-dump";
import { listAllPages } from "../../../src/features/pages/store";
import { listComponentsOfPage } from "../../../src/features/components/store";
import { findImport } from "../../../src/imports/store";
import type { HistoryStep } from "../../../src/imports/history/write";
import type { FoundHistory } from "../../../src/imports/found";
import { HOUR_MS, MINUTE_MS, toIso } from "../../../src/base/time";
import { createTestApp, type TestApp } from "../../support/app";
import { TEST_START } from "../../support/clock";
import { LONG_MONITORS, longPast, longPasts } from "../../support/long-past";
import {
  foundPast,
  importPast,
  pastMonitor,
  pastSource,
  regularBeats,
} from "../../support/past-source";

setDefaultTimeout(PROCESS_TEST_MS);

const NOW = TEST_START;

const PASTS = longPasts(NOW);

const foundWith = (history: FoundHistory) => foundPast(LONG_MONITORS, history);

/** Imports everything at once, and returns the rows. */
async function importedAtOnce() {
  await using app = await createTestApp();
  await importPast(app, foundWith(pastSource(PASTS)));
  return dumpRows(app);
}

/** Returns a source that fails before one of its chunks. */
function brokenAt(chunk: number): FoundHistory {
  let chunks = 0;
  return pastSource(PASTS, () => {
    chunks += 1;
    if (chunks === chunk) throw new Error("the process has ended");
  });
}

const startDates = ({ ctx }: TestApp) =>
  listAllPages(ctx.db, {}).flatMap(({ id }) =>
    listComponentsOfPage(ctx.db, { pageId: id }).map(({ startDate }) => startDate),
  );

describe("the import of a history", () => {
  test("goes on where it was interrupted, and ends as if it had not been", async () => {
    const whole = await importedAtOnce();
    for (const chunk of [1, 4, 12, 16, 27, 33]) {
      await using app = await createTestApp();
      // At a start, within a part of which something is written, between monitors and between parts.
      const broken = importPast(app, foundWith(brokenAt(chunk)));
      await expect(broken).rejects.toThrow("the process has ended");
      const report = await importPast(app, foundWith(pastSource(PASTS)));
      expect(report.counts).toEqual({ unchanged: 2 });
      expect(report.history).toMatchObject({ results: 2 * PASTS["monitor:api"].beats.length });
      expect(dumpRows(app)).toEqual(whole);
    }
  });

  test("goes on after each of its transactions", async () => {
    const whole = await importedAtOnce();
    for (const writes of [2, 3, 4, 5, 6, 9]) {
      await using app = await createTestApp();
      const { db } = app.ctx;
      let count = 0;
      const write: typeof db.write = (change) => {
        count += 1;
        return count > writes
          ? Promise.reject(new Error("the process has ended"))
          : db.write(change);
      };
      const ctx = { ...app.ctx, db: { ...db, statements: db.statements, write } };
      const broken = importPast({ ctx }, foundWith(pastSource(PASTS)));
      await expect(broken).rejects.toThrow("the process has ended");
      await importPast(app, foundWith(pastSource(PASTS)));
      expect(dumpRows(app)).toEqual(whole);
    }
  });

  test("changes nothing when it is run again", async () => {
    await using app = await createTestApp();
    await importPast(app, foundWith(pastSource(PASTS)));
    const before = [dumpRows(app), app.audit().length];
    const longer = { "monitor:api": { beats: longPast(NOW, 33) }, "monitor:web": { beats: [] } };
    const report = await importPast(app, foundWith(pastSource(longer)));
    expect(report).toMatchObject({ id: null, history: null });
    expect([dumpRows(app), app.audit().length]).toEqual(before);
  });

  test("extends it to older days", async () => {
    await using app = await createTestApp();
    const step = async (historyDays: number | null) => {
      const report = await importPast(app, foundWith(pastSource(PASTS)), { historyDays });
      return [startDates(app)[0], report.history?.days];
    };
    expect(await step(0)).toEqual([null, undefined]);
    expect(await step(30)).toEqual(["2026-02-08", 31]);
    expect(await step(10)).toEqual(["2026-02-08", undefined]);
    expect(await step(100)).toEqual(["2025-11-30", 101]);
    expect(await step(null)).toEqual(["2025-11-10", 121]);
    const tables = ["monitor_rollups", "component_no_data", "monitor_checks"] as const;
    const [whole, extended] = [await importedAtOnce(), dumpRows(app)];
    for (const table of tables) expect(extended[table]).toEqual(whole[table]);
  });

  test("can be made alone, of monitors that are here", async () => {
    await using app = await createTestApp();
    const found = foundWith(pastSource(PASTS));
    const alone = { only: "history" } as const;
    expect(await importPast(app, found, alone)).toMatchObject({ id: null, history: null });
    await importPast(app, found, { historyDays: 0 });
    const report = await importPast(app, found, alone);
    expect(report).toMatchObject({ counts: { kept: 2 }, history: { days: 121 } });
    expect(dumpRows(app)).toEqual(await importedAtOnce());
  });

  test("writes nothing in a dry run, and estimates", async () => {
    await using app = await createTestApp();
    const before = dumpRows(app);
    const report = await importPast(app, foundWith(pastSource(PASTS)), { isDryRun: true });
    expect(report.history).toEqual({
      results: 2 * PASTS["monitor:api"].beats.length,
      days: 121,
      from: "2025-11-10T00:00:00.000Z",
      until: "2026-03-10T11:59:00.000Z",
      skipped: {},
    });
    const lately = { isDryRun: true, historyDays: 30 };
    const part = await importPast(app, foundWith(pastSource(PASTS)), lately);
    expect(part.history).toMatchObject({ days: 31, from: "2026-02-08T00:00:00.000Z" });
    expect(part.history?.results).toBeLessThan(report.history?.results ?? 0);
    expect(dumpRows(app)).toEqual(before);
  });

  test("writes the last 90 days of every monitor first, and tells how far it is", async () => {
    await using app = await createTestApp();
    const steps: HistoryStep[] = [];
    const source = foundWith(pastSource(PASTS));
    const report = await importPast(app, source, {}, (step) => steps.push(step));
    const places = steps.map(
      ({ isOlder, monitor }) => `${isOlder ? "older" : "recent"} ${monitor}`,
    );
    expect([...new Set(places)]).toEqual(["recent 1", "recent 2", "older 1", "older 2"]);
    const rows = steps.map((step) => step.rows);
    expect(rows).toEqual(rows.toSorted((a, b) => a - b));
    const total = 2 * PASTS["monitor:api"].beats.length;
    expect(report).toMatchObject({ history: { results: total }, finished_at: toIso(NOW) });
    expect(findImport(app.ctx.db, { id: report.id ?? "" })?.report).toEqual(report);
    expect(steps.at(-1)).toMatchObject({ monitors: 2, rows: total, totalRows: total });
  });

  test("is refused while another import writes the same history", async () => {
    await using app = await createTestApp();
    const found = foundWith(pastSource(PASTS));
    await importPast(app, found, { historyDays: 0 });
    const outcomes = await Promise.allSettled([importPast(app, found), importPast(app, found)]);
    const reasons = outcomes.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    expect(reasons.map(({ message }: Error) => message)).toEqual([
      "Another import writes the same history. Wait for its end.",
    ]);
    const whole = await importedAtOnce();
    expect(dumpRows(app)["monitor_rollups"]).toEqual(whole["monitor_rollups"]);
    expect(dumpRows(app)["component_causes"]).toEqual(whole["component_causes"]);
  });

  test("leaves what was checked here as it is", async () => {
    await using app = await createTestApp();
    const late = regularBeats({ from: NOW - HOUR_MS, until: NOW + 5 * HOUR_MS }, MINUTE_MS);
    const report = await importPast(
      app,
      foundPast([pastMonitor("api")], pastSource({ "monitor:api": { beats: late } })),
    );
    expect(report.history).toMatchObject({ results: 60, until: "2026-03-10T11:59:00.000Z" });
  });
});
