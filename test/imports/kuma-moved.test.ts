import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ImportReport } from "../../src/base/import-report";
import { createInstallation, holds, type Installation } from "../support/binary";
import {
  badgeDifferences,
  documentDifferences,
  heartbeatDifferences,
  metricDifferences,
} from "../support/kuma-comparison";
import { PUSH_TOKEN } from "../support/kuma-installation";
import type { KumaReadings } from "../support/kuma-readings";
import { type KumaWithPast, startKumaWithPast } from "../support/kuma-with-past";

const DIRECTORY = process.env["UPTIME_KUMA_DIR"];
if (DIRECTORY === undefined) console.warn("SKIPPED: there is no Uptime Kuma in UPTIME_KUMA_DIR.");

/** Time limit of tests that start processes, in ms. */
const TEST_MS = 60_000;

const ACME = "/api/status-page/acme";

/** Differences of the documents that are meant. */
const DOCUMENTS = [
  `${ACME}.config.description: "All services of **Acme**" → "All services of Acme"`,
  `${ACME}.config.customCSS: null → ""`,
  `${ACME}.config.footerText: "Made with care" → null`,
  `${ACME}.config.showPoweredBy: true → false`,
  `${ACME}.config.googleAnalyticsId: only here`,
  `${ACME}.publicGroupList[0].monitorList[1].type: "keyword" → "http"`,
  `${ACME}.publicGroupList[0].monitorList[2].type: "json-query" → "http"`,
  `${ACME}.maintenanceList[0].timeRange[0]: {"hours":0,"minutes":0} → undefined`,
  `${ACME}.maintenanceList[0].timeRange[1]: {"hours":0,"minutes":0} → undefined`,
  `${ACME}.maintenanceList[0].cron: "" → null`,
  `${ACME}.maintenanceList[0].durationMinutes: 0 → null`,
  // For clients of 1.x.
  `${ACME}.incident: only here`,
  '/api/status-page/second.config.customCSS: null → ""',
  "/api/status-page/second.config.showPoweredBy: true → false",
  "/api/status-page/second.config.googleAnalyticsId: only here",
  "/api/status-page/second.incident: only here",
];

/** Differences of heartbeats. Here, failures that are not confirmed are no downtime, and durations no latency. */
const HEARTBEATS = [
  "Unconfirmed on acme uptime: 0 → 1",
  'Backup on acme beat: "1 with ping" → "1" (48)',
  "Upgrading on acme uptime: 0 → undefined",
  "Old on acme newest: undefined → 1",
  "Old on acme uptime: 0 → 1",
];

/** Differences of badges. */
const BADGES = [
  'Unconfirmed uptime: "Uptime (24h): 0.000%" → "Uptime (24h): 100.0%"',
  expect.stringMatching(/^Backup ping: "Avg. Ping \(24h\): \d+ms" → "N\/A"$/),
  expect.stringMatching(/^Backup avg-response: "Avg. Response \(24h\): \d+ms" → "N\/A"$/),
  'Backup response: "Response: 1200ms" → "N/A"',
  'Upgrading uptime: "Uptime (24h): 0.000%" → "N/A"',
  'Old status: "" → "Status: Up"',
  'Old uptime: "Uptime (24h): 0.000%" → "Uptime (24h): 100.0%"',
  'Old response: "" → "N/A"',
];

/** Instruction about the addresses that jobs call. */
const JOBS = expect.stringMatching(/^Let the address of Uptime Kuma lead to this server/);

/** Returns the differences of badges, without the latencies of a status that is set by hand: of a query there. */
function badgesThatDiffer(there: KumaReadings, here: KumaReadings): string[] {
  return badgeDifferences(there, here).filter((line) => !line.startsWith("By hand "));
}

describe.skipIf(DIRECTORY === undefined)("moving from a running Uptime Kuma", () => {
  let site: KumaWithPast;
  /** Imported with running monitors. */
  let moved: Installation;

  beforeAll(async () => {
    site = await startKumaWithPast(DIRECTORY ?? "");
    moved = await createInstallation({ isFromSources: true });
  }, 2 * TEST_MS);
  afterAll(async () => {
    await moved?.[Symbol.asyncDispose]();
    await site?.[Symbol.asyncDispose]();
  }, TEST_MS);

  /** Imports and returns the report. */
  async function importFrom(path: string, into: Installation, ...flags: string[]) {
    const args = ["import", "uptime-kuma", path, "--json", ...flags];
    const { exitCode, stdout, stderr } = await into.run(args, { env: site.env });
    if (exitCode !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as ImportReport;
  }

  /** Reads an installation while its server runs. */
  async function readServed(installation: Installation): Promise<KumaReadings> {
    const { value } = await installation.createKey(["read:analytics"]);
    const server = await installation.serve({ env: site.env });
    const readings = await site.readOther(server.url, value);
    await server.stop();
    return readings;
  }

  test(
    "everything is moved, or reported with the reason",
    async () => {
      expect(statSync(join(site.data, "kuma.db-wal")).size).toBeGreaterThan(0);
      const plan = await importFrom(site.data, moved, "--dry-run");
      const report = await importFrom(site.data, moved, "--yes");
      expect(plan.counts).toEqual(report.counts);
      const lossy = report.items.filter(({ verdict }) => verdict !== "created");
      expect(
        lossy.map(({ verdict, foreign }) => `${verdict} ${foreign.type} ${foreign.name}`),
      ).toEqual([
        "changed status_page Acme",
        "not_moved monitor Data centre",
        "not_moved user 1 user",
        "not_moved tag 2 tags",
        "not_moved docker_host 1 Docker host",
        "not_moved setting 2 settings",
      ]);
      expect(report.history?.days).toBe(46);
      expect([report.not_read, report.to_do]).toEqual([[], [JOBS]]);
    },
    TEST_MS,
  );

  test(
    "clients read the same of both, but for what this list names",
    async () => {
      const there = await site.read();
      const here = await readServed(moved);
      expect(documentDifferences(there.documents, here.documents)).toEqual(DOCUMENTS);
      expect(heartbeatDifferences(there, here)).toEqual(HEARTBEATS);
      expect(badgesThatDiffer(there, here)).toEqual(BADGES);
      expect(metricDifferences(there, here)).toEqual([
        "Data centre: only there",
        'Keyword.monitor_type: "keyword" → "http"',
        'JSON.monitor_type: "json-query" → "http"',
        "Unconfirmed monitor_uptime_ratio: only there",
        expect.stringMatching(/^DNS.monitor_port: "\d+" → "null"$/),
        "By hand: only there",
        "Upgrading monitor_uptime_ratio 1d: 0 → 1",
        "Upgrading monitor_uptime_ratio 30d: 0 → 1",
        "Upgrading monitor_uptime_ratio 365d: 0 → 1",
      ]);
    },
    TEST_MS,
  );

  test(
    "a second import changes nothing",
    async () => {
      const again = await importFrom(site.data, moved, "--yes");
      expect(Object.keys(again.counts).toSorted()).toEqual(["not_moved", "unchanged"]);
      expect(again.history).toBeNull();
    },
    TEST_MS,
  );

  test(
    "a paused import shows what Uptime Kuma showed, and a copy without its WAL asks for both files",
    async () => {
      await using paused = await createInstallation({ isFromSources: true });
      await importFrom(site.data, paused, "--yes", "--paused");
      const there = await site.read();
      const here = await readServed(paused);
      expect(documentDifferences(there.documents, here.documents)).toEqual(DOCUMENTS);
      // No component is down by a paused monitor.
      expect(heartbeatDifferences(there, here)).toEqual([
        'Broken on acme beat: "0" → "2"',
        "Broken on acme newest: 0 → 2",
        ...HEARTBEATS,
      ]);
      expect(badgesThatDiffer(there, here)).toEqual([
        'Broken status: "Status: Down" → "Status: Pending"',
        ...BADGES,
      ]);
      expect(here.metrics.size).toBe(0);

      const folder = paused.path("copy");
      mkdirSync(folder);
      copyFileSync(join(site.data, "kuma.db"), join(folder, "kuma.db"));
      await using copied = await createInstallation({ isFromSources: true });
      const report = await importFrom(folder, copied, "--yes");
      expect(report.to_do).toEqual([
        expect.stringMatching(/\/kuma\.db has no -wal file .* Its newest heartbeat is of /),
        JOBS,
      ]);
      expect(report.counts).toMatchObject({ created: 39 });
    },
    TEST_MS,
  );

  test(
    "jobs and clients go on under its address once it has ended",
    async () => {
      await site.stop();
      const server = await moved.serve({
        env: { ...site.env, ALLCLEAR_LISTEN: `127.0.0.1:${site.port}` },
      });
      const push = (query: string) => server.fetch(`/api/push/${PUSH_TOKEN}?${query}`);
      const badge = async () =>
        (await server.fetch(`/api/badge/${site.monitors.get("Backup")}/status`)).text();
      expect(server.url).toBe(`http://127.0.0.1:${site.port}`);
      expect(await (await push("status=down&msg=Disk%20full")).json()).toEqual({ ok: true });
      expect(await holds(async () => (await badge()).includes("Down"))).toBe(true);
      expect(await (await push("status=up&msg=Done&ping=12")).json()).toEqual({ ok: true });
      expect(await holds(async () => (await badge()).includes("Up"))).toBe(true);
      await server.stop();
    },
    2 * TEST_MS,
  );
});
