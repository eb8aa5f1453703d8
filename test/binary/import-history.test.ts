import { expect, setDefaultTimeout, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import type { ImportReport } from "../../src/base/import-report";
import { DAY_MS } from "../../src/base/time";
import {
  createInstallation,
  executable,
  holds,
  type Installation,
  PROCESS_TEST_MS,
} from "../support/binary";
import { dumpOf } from "../support/database-dump";
import { writeLargeKuma } from "../support/large-kuma";

setDefaultTimeout(PROCESS_TEST_MS);

const MONITORS = 10;
const BEATS = 100_000;

/** Writes a database of Uptime Kuma and returns the arguments of its import. */
function importOf(site: Installation): string[] {
  const path = site.path("kuma.db");
  writeLargeKuma(path, { monitors: MONITORS, beats: BEATS, until: Date.now() - 1_000 });
  return ["import", "uptime-kuma", path, "--yes", "--json", "--paused"];
}

const reportOf = (stdout: string) => JSON.parse(stdout) as ImportReport;

/** Returns the number of the UTC day of a time. */
function dayOf(time: string | null | undefined): number {
  return Math.floor(Date.parse(time ?? "") / DAY_MS);
}

/** Returns the sums of the checks in figures by size, and the number of rows by table. */
function rowsOf(site: Installation) {
  const dump = dumpOf(join(site.dataDir, "allclear.db"));
  const rollups = Map.groupBy(dump["monitor_rollups"] ?? [], ({ size }) => Number(size));
  const checks = Array.from(rollups, ([size, rows]): [number, number] => [
    size,
    rows.reduce((sum, row) => sum + Number(row["checks"]), 0),
  ]);
  const tables = ["monitor_checks", "monitor_spans", "component_causes", "component_no_data"];
  return {
    checks: Object.fromEntries(checks.toSorted(([a], [b]) => a - b)),
    rows: Object.fromEntries(tables.map((table) => [table, dump[table]?.length])),
  };
}

test("a running server soon shows an imported history", async () => {
  await using site = await createInstallation();
  await site.createPage("acme", ["API"]);
  const { value: key } = await site.createKey(["read:status"]);
  const server = await site.serve();
  const report = reportOf(await site.output(...importOf(site)));
  // The last 10,000 minutes touch seven days of UTC or eight.
  const { days, from, until } = report.history ?? {};
  expect(days).toBe(1 + dayOf(until) - dayOf(from));
  expect(days).toBeGreaterThanOrEqual(7);
  const isShown = async () => {
    const answer = await server.fetch("/api/v1/status/internal", { key });
    const { components } = (await answer.json()) as { components: { uptime_90d: number | null }[] };
    return components.length === MONITORS && components.every((each) => (each.uptime_90d ?? 1) < 1);
  };
  expect(await holds(isShown)).toBe(true);
  expect(await server.stop()).toBe(0);
});

test("kill -9 at any point of a history is made up for by the same command", async () => {
  await using site = await createInstallation();
  const args = importOf(site);
  const size = (name: string) =>
    statSync(join(site.dataDir, name), { throwIfNoEntry: false })?.size ?? 0;
  const written = () => size("allclear.db") + size("allclear.db-wal");
  for (const bytes of [1_500_000, 2_500_000, 4_000_000, 5_500_000]) {
    const child = Bun.spawn([await executable(), ...args], {
      env: { PATH: process.env.PATH ?? "", ALLCLEAR_DATA_DIR: site.dataDir },
      stdout: "ignore",
      stderr: "ignore",
    });
    while (child.exitCode === null && written() < bytes) await Bun.sleep(1);
    expect(child.exitCode).toBeNull();
    child.kill("SIGKILL");
    await child.exited;
  }
  const report = reportOf(await site.output(...args));
  expect(report.counts["unchanged"]).toBeGreaterThan(0);
  const again = reportOf(await site.output(...args));
  expect([again.id, again.history]).toEqual([null, null]);

  await using whole = await createInstallation();
  const { history } = reportOf(await whole.output(...args));
  expect(report.history?.results).toBe(history?.results ?? 0);
  const [left, right] = [rowsOf(site), rowsOf(whole)];
  expect(left.rows["component_causes"]).toBe(right.rows["component_causes"] ?? 0);
  expect(left.rows["monitor_spans"]).toBe(right.rows["monitor_spans"] ?? 0);
  expect(left.rows["component_no_data"]).toBe(right.rows["component_no_data"] ?? 0);
});
