import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import type { ImportReport } from "../../src/domain/import-report";
import { readUptimeKuma } from "../../src/features/imports/uptime-kuma/read";
import { createTestApp, type TestApp } from "../support/app";
import { createTestClock } from "../support/clock";
import { importPast } from "../support/past-source";
import { temporaryFolder } from "../support/temporary-folder";
import { type RunningKuma, startKuma } from "./fixtures/uptime-kuma/start";

const DIRECTORY = process.env["UPTIME_KUMA_DIR"];
const START_TIMEOUT_MS = 120_000;
if (DIRECTORY === undefined) console.warn("SKIPPED: there is no Uptime Kuma in UPTIME_KUMA_DIR.");

const USER = "admin";
const PASSWORD = "A long password 1";

/** Fields of every new monitor in the dashboard of Uptime Kuma. */
const MONITOR = {
  description: null,
  interval: 60,
  retryInterval: 60,
  resendInterval: 0,
  maxretries: 0,
  maxredirects: 10,
  timeout: 48,
  method: "GET",
  active: true,
  notificationIDList: {},
  accepted_statuscodes: ["200-299"],
  conditions: [],
  kafkaProducerBrokers: [],
  kafkaProducerSaslOptions: { mechanism: "None" },
  rabbitmqNodes: [],
};

const DOCUMENTS = {
  page: "/api/status-page/acme",
  heartbeats: "/api/status-page/heartbeat/acme",
  incidents: "/api/status-page/acme/incident-history",
  manifest: "/api/status-page/acme/manifest.json",
  entry: "/api/entry-page",
};

const BADGES = ["status", "uptime", "ping", "avg-response", "response", "cert-exp"];

type Json = Record<string, unknown>;

interface Heartbeats {
  heartbeatList: Record<string, { ping: number | null }[]>;
  uptimeList: Record<string, number>;
}

describe.skipIf(DIRECTORY === undefined)("what was imported from a running Uptime Kuma", () => {
  let kuma: RunningKuma;
  let app: TestApp;
  let report: ImportReport;
  /** Ids in Uptime Kuma. The jobs send their heartbeats themselves. */
  let [website, job, brokenJob] = [0, 0, 0];

  beforeAll(async () => {
    kuma = await startKuma(DIRECTORY ?? "");
    await kuma.call("setup", USER, PASSWORD);
    await kuma.call("login", { username: USER, password: PASSWORD, token: "" });
    const add = async (fields: object) =>
      Number((await kuma.call("add", { ...MONITOR, ...fields })).monitorID);
    website = await add({ name: "Site", type: "http", url: `${kuma.answering}/` });
    job = await add({ name: "Backup", type: "push", pushToken: "backup-token" });
    brokenJob = await add({ name: "Report", type: "push", pushToken: "report-token" });
    for (const ping of [12, 14.5, 16]) {
      // oxlint-disable-next-line no-await-in-loop
      await fetch(`${kuma.address}/api/push/backup-token?status=up&msg=OK&ping=${ping}`);
    }
    await fetch(`${kuma.address}/api/push/report-token?status=down&msg=broken`);
    const entryPage = { entryPage: "statusPage-acme", keepDataPeriodDays: 180 };
    await kuma.call("setSettings", entryPage, PASSWORD);
    await kuma.call("addStatusPage", "Acme", "acme");
    const { config } = await kuma.call("getStatusPage", "acme");
    const monitorList = [website, job, brokenJob].map((id) => ({ id }));
    const groups = [{ name: "Web", monitorList }];
    await kuma.call(
      "saveStatusPage",
      "acme",
      { ...(config as Json), description: "All" },
      "",
      groups,
    );
    const incident = { title: "Slow", content: "It is *slow*.", style: "warning" };
    await kuma.call("postIncident", "acme", incident);
    await untilChecked(kuma, website);

    const now = Date.now();
    app = await createTestApp({ clock: createTestClock(now) });
    const found = await readUptimeKuma(kuma.data, { now });
    using _history = found.history;
    report = await importPast(app, found);
  }, START_TIMEOUT_MS);

  afterAll(async () => {
    await app?.[Symbol.asyncDispose]();
    await kuma?.[Symbol.asyncDispose]();
  }, START_TIMEOUT_MS);

  /** Reads a document of both. */
  async function both<Document>(path: string): Promise<{ theirs: Document; ours: Document }> {
    const theirs = (await (await fetch(kuma.address + path)).json()) as Document;
    const { status, body } = await app.call(path);
    expect(status).toBe(200);
    return { theirs, ours: body as Document };
  }

  test("has all objects and results", () => {
    const { created = 0, ...others } = report.counts;
    expect(created).toBeGreaterThan(0);
    // Users and settings are not moved.
    expect(Object.keys(others)).toEqual(["not_moved"]);
    expect(report.not_read).toEqual([]);
    expect(report.history).toMatchObject({ results: 5, skipped: {} });
  });

  test("has the document of the page, but for what is not imported", async () => {
    const { theirs, ours } = await both<Json>(DOCUMENTS.page);
    expect(ours).toEqual({
      ...theirs,
      // Of 1.x, for its clients.
      incident: (theirs["incidents"] as unknown[])[0] ?? null,
      config: {
        ...(theirs["config"] as Json),
        customCSS: "",
        showPoweredBy: false,
        googleAnalyticsId: null,
      },
    });
  });

  test("has the heartbeats, but for latencies that jobs send", async () => {
    const { theirs, ours } = await both<Heartbeats>(DOCUMENTS.heartbeats);
    expect(theirs.heartbeatList[website]).not.toEqual([]);
    for (const beat of theirs.heartbeatList[job] ?? []) beat.ping = null;
    expect(ours).toEqual(theirs);
  });

  test("has the other documents, but for the picture of a page without one", async () => {
    const incidents = await both<Json>(DOCUMENTS.incidents);
    expect(incidents.ours).toEqual(incidents.theirs);
    const entry = await both<Json>(DOCUMENTS.entry);
    expect(entry.ours).toEqual(entry.theirs);
    const manifest = await both<{ icons: object[] }>(DOCUMENTS.manifest);
    const icons = manifest.theirs.icons.map((icon) => ({ ...icon, src: "/icon.svg" }));
    expect(manifest.ours).toEqual({ ...manifest.theirs, icons });
  });

  test.each(BADGES)("has the badges %s with their texts and colours", async (badge) => {
    for (const id of [website, job, brokenJob]) {
      // Latencies that jobs send are not shown.
      if (id === job && /ping|response/.test(badge)) continue;
      const path = `/api/badge/${id}/${badge}`;
      // oxlint-disable-next-line no-await-in-loop
      const theirs = await (await fetch(kuma.address + path)).text();
      // oxlint-disable-next-line no-await-in-loop
      const ours = (await app.call(path)).text;
      // An average of failures alone has no number.
      if (titleOf(theirs).endsWith(": ms")) expect(titleOf(ours)).toBe("N/A");
      else expect([titleOf(ours), colourOf(ours)]).toEqual([titleOf(theirs), colourOf(theirs)]);
    }
  });

  test("has the metrics with the same series and values", async () => {
    const headers = { authorization: `Basic ${btoa(`${USER}:${PASSWORD}`)}` };
    const theirs = seriesOf(await (await fetch(`${kuma.address}/metrics`, { headers })).text());
    const key = await app.keyWith("read:analytics");
    const ours = seriesOf((await app.call("/compat/kuma/metrics", { key })).text);
    const names = [...theirs.keys()].map((series) => series.split("{")[0]);
    expect(new Set(names)).toEqual(
      new Set([
        "app_version",
        "monitor_status",
        "monitor_response_time",
        "monitor_uptime_ratio",
        "monitor_response_time_seconds",
      ]),
    );
    for (const [series, value] of theirs) {
      // Uptime Kuma gives the path of an address too.
      const own = ours.get(series.replace(/(monitor_url="http:\/\/[^/"]+)\/"/, '$1"'));
      expect([series, own]).toEqual([series, expect.any(Number)]);
      expect(own).toBeCloseTo(value, 3);
    }
  });

  test("lacks the newest changes in a copy without the log, and says so", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "kuma.db");
    copyFileSync(join(kuma.data, "kuma.db"), path);
    const lacking = await readUptimeKuma(path);
    expect(lacking.toDo.join()).toContain("copy both files");
    expect(lacking.history?.estimate().rows ?? 0).toBeLessThan(5);
    lacking.history?.[Symbol.dispose]();
    copyFileSync(join(kuma.data, "kuma.db-wal"), `${path}-wal`);
    const whole = await readUptimeKuma(path);
    using history = whole.history;
    expect(whole.toDo.join()).not.toContain("copy both files");
    expect(whole.monitors.map(({ body }) => body.name).toSorted()).toEqual([
      "Backup",
      "Report",
      "Site",
    ]);
    expect(history?.estimate().rows).toBeGreaterThanOrEqual(5);
  });
});

/** Resolves after the first check of a monitor. */
async function untilChecked({ address }: RunningKuma, id: number): Promise<void> {
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop
    const beats = (await (await fetch(address + DOCUMENTS.heartbeats)).json()) as Heartbeats;
    if ((beats.heartbeatList[id]?.length ?? 0) > 0) return;
    // oxlint-disable-next-line no-await-in-loop
    await Bun.sleep(100);
  }
}

function titleOf(badge: string): string {
  return /<title>(.*?)<\/title>/.exec(badge)?.[1] ?? "";
}

/** Returns the colour of the value of a badge. */
function colourOf(badge: string): string | undefined {
  return [...badge.matchAll(/<rect[^>]* fill="((?:#|hsl)[^"]+)"/g)].at(-1)?.[1];
}

/** Returns the values of metrics of monitors and of the version, by name and labels. */
function seriesOf(exposition: string): Map<string, number> {
  const lines = exposition.matchAll(/^((?:monitor|app_version)[^ {]*\{.*\}) (\S+)$/gm);
  return new Map([...lines].map(([, series = "", value]) => [series, Number(value)]));
}
