import { type Static, Type } from "@sinclair/typebox";
import { WHOLE_TURN } from "../../base/in-slices";
import { Nullable } from "../../base/schema";
import { type Impact, kumaTypeOf, type MonitorState } from "../../base/status";
import { DAY_MS, parseInstant, SECOND_MS, toIso } from "../../base/time";
import type { Reader } from "../../db/statements";
import { foldComponents, uptimeByMonitor } from "../../features/analytics/analytics";
import {
  BEAT,
  type CompatEntry,
  numbersOf,
  readBeats,
  readEntries,
} from "../../features/compat/entries";
import { type Span, uptimeOfTime } from "../../features/components/rules";
import { type ComponentRow, listComponentsOfPage } from "../../features/components/store";
import {
  type IncidentRecord,
  listIncidentsBetween,
  listIncidentsById,
  type ReadRecords,
} from "../../features/incidents/records";
import { countPublished } from "../../features/incidents/store";
import { isUnderWay } from "../../features/maintenance/rules";
import type { MaintenanceRecord } from "../../features/maintenance/store";
import { latencyTogether } from "../../features/monitors/latency";
import { listMonitors, type MonitorRecord } from "../../features/monitors/records";
import type { Snapshot } from "../../features/status/snapshots";
import { RESULTS_CACHE } from "../../http/cdn";
import type { Representation } from "../../http/representation";
import { jsonRepresentation } from "../site";

/** Name of the group of components without a group. */
const UNGROUPED = "Services";

/** Returns the page with its groups, open incidents and the maintenance in progress, at `now` (unix ms). */
export function pageDocument(reader: Reader, snapshot: Snapshot, now: number): KumaPage {
  const { page } = snapshot.document;
  const { incidents, maintenance } = snapshot.records;
  const underWay = maintenance.filter(({ row }) => isUnderWay(row.status));
  const numberOf = numbersOf(reader, [
    page.id,
    ...[...incidents, ...underWay].map(({ row }) => row.id),
    ...snapshot.records.groups.map(({ id }) => id),
  ]);
  const open = incidents.map((record) => presentIncident(record, numberOf));
  return {
    config: {
      slug: page.slug,
      title: page.name,
      description: page.description,
      icon: iconOf(snapshot),
      autoRefreshInterval: 300,
      theme: page.theme === "system" ? "auto" : page.theme,
      published: true,
      showTags: false,
      customCSS: "",
      footerText: null,
      showPoweredBy: false,
      analyticsId: null,
      analyticsScriptUrl: null,
      analyticsType: null,
      googleAnalyticsId: null,
      showCertificateExpiry: false,
      showOnlyLastHeartbeat: false,
      rssTitle: null,
    },
    incident: open[0] ?? null,
    incidents: open,
    publicGroupList: groupsOf(snapshot, readEntries(reader, snapshot), numberOf),
    maintenanceList: underWay.map((record) =>
      presentMaintenance(record, page.time_zone, numberOf(record.row.id), now),
    ),
  };
}

function iconOf({ document }: Snapshot): string {
  const { logo } = document.page;
  return logo === null ? "/icon.svg" : new URL(logo).pathname;
}

/** Returns the groups in the order of the page, components without a group first. Empty groups are left out. */
function groupsOf(
  { records }: Snapshot,
  entries: readonly CompatEntry[],
  numberOf: (id: string) => number,
): KumaGroup[] {
  const byGroup = Map.groupBy(entries, ({ component }) => component.group_id);
  return [null, ...records.groups]
    .map((group) => ({ group, own: byGroup.get(group?.id ?? null) ?? [] }))
    .filter(({ own }) => own.length > 0)
    .map(({ group, own }, index) => ({
      id: group ? numberOf(group.id) : 0,
      name: group?.name ?? UNGROUPED,
      weight: index + 1,
      monitorList: own.map(({ component, number, watcher }) => ({
        id: number,
        name: component.name,
        sendUrl: 0,
        type: kumaTypeOf(watcher?.type),
      })),
    }));
}

function presentMaintenance(
  { row, updates }: MaintenanceRecord,
  timezone: string,
  id: number,
  now: number,
): KumaMaintenance {
  const startDate = zonedText(row.scheduledFor, timezone);
  const endDate = zonedText(row.scheduledUntil, timezone);
  return {
    id,
    title: row.name,
    description: updates[0]?.body ?? "",
    strategy: "single",
    intervalDay: 1,
    active: true,
    dateRange: [startDate, endDate],
    timeRange: [],
    weekdays: [],
    daysOfMonth: [],
    timeslotList: [{ startDate, endDate }],
    cron: null,
    duration: null,
    durationMinutes: null,
    timezone,
    timezoneOption: timezone,
    timezoneOffset: offsetOf(now, timezone),
    status: "under-maintenance",
  };
}

/** Returns the description of a page as an app. */
export function manifest(snapshot: Snapshot): Static<typeof KumaManifest> {
  const { name, slug } = snapshot.document.page;
  return {
    name,
    start_url: `/status/${slug}`,
    display: "standalone",
    icons: [{ src: iconOf(snapshot), sizes: "128x128", type: "image/png" }],
  };
}

const BEATS_MAX = 100;
/** Components whose uptime is read in one turn of the event loop. */
const ROWS_PER_STEP = 100;

/** Returns the heartbeats of a page that does not exist. */
export function noHeartbeats(): Representation {
  const none: KumaHeartbeats = { heartbeatList: {}, uptimeList: {} };
  return jsonRepresentation(none, RESULTS_CACHE);
}

/** Returns the beats and the uptime of 24 hours of each entry, at `now` (unix ms), in steps. */
export function* heartbeatsDocument(
  reader: Reader,
  snapshot: Snapshot,
  now: number,
): Generator<number, KumaHeartbeats> {
  const entries = readEntries(reader, snapshot);
  const heartbeatList: KumaHeartbeats["heartbeatList"] = {};
  for (const entry of entries) {
    yield 1;
    heartbeatList[entry.number] = readBeats(reader, entry, BEATS_MAX).map((beat) => ({
      status: beat.status,
      time: utcText(beat.at, true),
      msg: "",
      ping: beat.latencyMs,
    }));
  }
  const uptimeList: KumaHeartbeats["uptimeList"] = {};
  const numbers = new Map(entries.map(({ component, number }) => [component.id, number]));
  const rows = listComponentsOfPage(reader, { pageId: snapshot.document.page.id });
  const span = { from: now - DAY_MS, to: now };
  for (let first = 0; first < rows.length; first += ROWS_PER_STEP) {
    yield WHOLE_TURN;
    const part = rows.slice(first, first + ROWS_PER_STEP);
    for (const [index, uptime] of uptimesOf(reader, part, span).entries()) {
      const number = numbers.get(part[index]?.id ?? "");
      if (uptime !== null && number !== undefined) uptimeList[`${number}_24`] = uptime;
    }
  }
  return { heartbeatList, uptimeList };
}

/** Returns the uptime of each component in a span of unix ms; null without known time. */
export function uptimesOf(
  reader: Reader,
  rows: readonly ComponentRow[],
  span: Span,
): (number | null)[] {
  const folded = foldComponents(reader, rows, { ...span, spans: [span] });
  return folded.map(([whole]) => (whole ? uptimeOfTime(whole.time) : null));
}

const INCIDENTS_PER_PAGE = 10;

const STYLES: Readonly<Record<Impact, string>> = {
  critical: "danger",
  major: "danger",
  minor: "warning",
  none: "info",
};

/** Returns an incident; `numberOf` returns the numbers of the incident and its page by id. */
function presentIncident(
  { row, updates }: IncidentRecord,
  numberOf: (id: string) => number,
): KumaIncident {
  const [newest] = updates;
  const isChanged = newest !== undefined && newest.displayAt > row.startedAt;
  const isActive = row.resolvedAt === null;
  return {
    id: numberOf(row.id),
    style: STYLES[row.impact],
    title: row.name,
    content: newest?.body ?? "",
    pin: isActive,
    active: isActive,
    createdDate: utcText(row.startedAt),
    lastUpdatedDate: isChanged ? utcText(newest.displayAt) : null,
    status_page_id: numberOf(row.pageId),
  };
}

/**
 * Returns a function that lists ten incidents of a page, newest start first: from the newest, or those that
 * started before the cursor, the creation of the last one. An unreadable cursor has no incidents, as in Uptime
 * Kuma. Incidents are counted once per snapshot.
 */
export function createIncidentHistory(
  reader: Reader,
  readIncidents: ReadRecords,
): (snapshot: Snapshot, cursor: string | null) => KumaIncidentHistory {
  const totals = new WeakMap<Snapshot, number>();

  function totalOf(snapshot: Snapshot): number {
    const pageId = snapshot.document.page.id;
    const total = totals.get(snapshot) ?? countPublished(reader, { pageId })?.count ?? 0;
    totals.set(snapshot, total);
    return total;
  }

  return (snapshot, cursor) => {
    const pageId = snapshot.document.page.id;
    const listFrom = (at: number, limit: number) =>
      listIncidentsBetween(reader, {
        pageId,
        from: 0,
        to: Number.MAX_SAFE_INTEGER,
        before: { at, id: "" },
        limit,
      });
    const start = cursor === null ? Number.MAX_SAFE_INTEGER : (parseInstant(isoOf(cursor)) ?? 0);
    const ids = listFrom(start, INCIDENTS_PER_PAGE).map(({ id }) => id);
    const records = listIncidentsById(reader, ids, readIncidents);
    const numberOf = numbersOf(reader, [pageId, ...ids]);
    const last = records.at(-1)?.row;
    // Cursors have no milliseconds.
    const end = last && Math.floor(last.startedAt / SECOND_MS) * SECOND_MS;
    const hasMore = end !== undefined && listFrom(end, 1).length > 0;
    return {
      ok: true,
      incidents: records.map((record) => presentIncident(record, numberOf)),
      total: totalOf(snapshot),
      nextCursor: hasMore ? utcText(end) : null,
      hasMore,
    };
  };
}

function isoOf(cursor: string): string {
  return `${cursor.trim().replace(" ", "T")}Z`;
}

/** Version of Uptime Kuma in whose form the metrics are. */
const KUMA_VERSION = "2.5.3";

const MONITORS_MAX = 10_000;
const WINDOWS = { "1d": DAY_MS, "30d": 30 * DAY_MS, "365d": 365 * DAY_MS } as const;

const HELP: Readonly<Record<string, string>> = {
  monitor_cert_days_remaining: "Days until the certificate expires",
  monitor_cert_is_valid: "1 if the certificate is valid, else 0",
  monitor_uptime_ratio: "Uptime from 0 to 1 in the window",
  monitor_response_time_seconds: "Mean response time in the window",
  monitor_response_time: "Last response time in ms; -1 if it is not known",
  monitor_status: "0 down, 1 up, 2 pending, 3 maintenance",
  app_version: "Version of Uptime Kuma in whose form these metrics are",
};

type Labels = Readonly<Record<string, string>>;

/** Returns all monitors that are not paused as metrics of Uptime Kuma, as of `now` (unix ms). */
export async function kumaMetrics(reader: Reader, now: number): Promise<string> {
  const records = listMonitors(reader, { limit: MONITORS_MAX }).filter(({ row }) => !row.paused);
  const numberOf = numbersOf(
    reader,
    records.map(({ row }) => row.id),
  );
  const families = new Map(Object.keys(HELP).map((name): [string, string[]] => [name, []]));
  const add = (name: string, labels: Labels, value: number) =>
    families.get(name)?.push(`${name}{${writeLabels(labels)}} ${value}`);

  const labels = records.map((record) => labelsOf(record, numberOf(record.row.id)));
  for (const [index, { row, state, lastCheck }] of records.entries()) {
    const own = labels[index] ?? {};
    // Failures before an import are results and not counted.
    const hasFailed = state.failures > 0 || lastCheck?.outcome === "failed";
    const status = STATUSES[state.state];
    add("monitor_status", own, hasFailed && status === BEAT.up ? BEAT.pending : status);
    const isAnswered = lastCheck?.outcome === "ok" && lastCheck.latencyMs !== null;
    add("monitor_response_time", own, isAnswered ? (lastCheck.latencyMs ?? -1) : -1);
    const expiresAt = state.certificateExpiresAt;
    if (expiresAt === null || row.type === "domain") continue;
    add("monitor_cert_days_remaining", own, Math.round((expiresAt - now) / DAY_MS));
    add("monitor_cert_is_valid", own, expiresAt > now ? 1 : 0);
  }
  const rows = records.map(({ row }) => row);
  const nums = rows.map(({ num }) => num);
  for (const [window, ms] of Object.entries(WINDOWS)) {
    const span = { from: now - ms, to: now };
    // Each window takes several turns of the event loop.
    // oxlint-disable-next-line no-await-in-loop
    const uptimes = await uptimeByMonitor(reader, rows, span);
    // oxlint-disable-next-line no-await-in-loop
    const latencies = await latencyTogether(reader, nums, [span]);
    for (const [index, own] of labels.entries()) {
      const uptime = uptimes[index]?.uptime ?? null;
      if (uptime !== null) add("monitor_uptime_ratio", { ...own, window }, uptime);
      const mean = latencies.each[index]?.total.avgMs ?? null;
      if (mean !== null) add("monitor_response_time_seconds", { ...own, window }, mean / 1_000);
    }
  }
  const [major = "", minor = "", patch = ""] = KUMA_VERSION.split(".");
  add("app_version", { version: KUMA_VERSION, major, minor, patch }, 1);
  return [...families]
    .filter(([, samples]) => samples.length > 0)
    .map(([name, samples]) =>
      [`# HELP ${name} ${HELP[name]}`, `# TYPE ${name} gauge`, ...samples, ""].join("\n"),
    )
    .join("\n");
}

const STATUSES: Readonly<Record<MonitorState, number>> = {
  up: BEAT.up,
  degraded: BEAT.up,
  paused: BEAT.up,
  down: BEAT.down,
  unreachable: BEAT.down,
  pending: BEAT.pending,
  no_data: BEAT.pending,
  maintenance: BEAT.maintenance,
};

/** Returns the labels of a monitor. Those that it has not are `null`, as in Uptime Kuma. */
function labelsOf({ row }: MonitorRecord, number: number): Labels {
  const { config } = row;
  const { url } = config;
  // The host of a container is a name that only this server knows.
  const host = row.type === "docker" ? undefined : (config["host"] ?? config["name"]);
  return {
    ...tagLabels(row.tags),
    monitor_id: String(number),
    monitor_name: row.name,
    monitor_type: kumaTypeOf(row.type),
    // Paths and queries can contain tokens.
    monitor_url: typeof url === "string" ? (URL.parse(url)?.origin ?? "null") : "null",
    monitor_hostname: textOf(host),
    monitor_port: textOf(config["port"]),
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "null";
}

/** Names that tags must not have as labels. */
const RESERVED = /^(monitor_(id|name|type|url|hostname|port)|window|__.*)$/;

/** Returns tags such as `team:ops` as labels, reduced to the characters that Uptime Kuma keeps. */
function tagLabels(tags: readonly string[]): Labels {
  const labels = new Map<string, string[]>();
  for (const tag of tags) {
    const [, given = "", value = ""] = /^([^:]*):?(.*)$/s.exec(tag) ?? [];
    const name = reduce(given);
    if (name === "" || RESERVED.test(name)) continue;
    labels.set(name, [...(labels.get(name) ?? []), reduce(value)].filter(Boolean));
  }
  return Object.fromEntries([...labels].map(([name, values]) => [name, values.sort().join(",")]));
}

function reduce(text: string): string {
  return text.replace(/[^a-zA-Z0-9_]/g, "").replace(/^[^a-zA-Z_]+/, "");
}

function writeLabels(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escape(value)}"`)
    .join(",");
}

function escape(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

/*
 * Schemas of the public JSON of Uptime Kuma 2, with the field `incident` of version 1. No field is ever
 * omitted.
 */

const Time = Type.String({ description: "In UTC.", examples: ["2026-03-10 12:00:00"] });

const KumaIncident = Type.Object(
  {
    id: Type.Integer(),
    style: Type.String({ description: "`danger`, `warning` or `info`, by the impact." }),
    title: Type.String(),
    content: Type.String({ description: "Newest update, in Markdown." }),
    pin: Type.Boolean(),
    active: Type.Boolean(),
    createdDate: Time,
    lastUpdatedDate: Nullable(Time),
    status_page_id: Type.Integer(),
  },
  { title: "KumaIncident" },
);
type KumaIncident = Static<typeof KumaIncident>;

const KumaGroup = Type.Object(
  {
    id: Type.Integer({ description: "0 for components without a group." }),
    name: Type.String(),
    weight: Type.Integer(),
    monitorList: Type.Array(
      Type.Object({
        id: Type.Integer(),
        name: Type.String(),
        sendUrl: Type.Literal(0),
        type: Type.String(),
      }),
    ),
  },
  { title: "KumaGroup" },
);
type KumaGroup = Static<typeof KumaGroup>;

const KumaMaintenance = Type.Object(
  {
    id: Type.Integer(),
    title: Type.String(),
    description: Type.String(),
    strategy: Type.Literal("single"),
    intervalDay: Type.Integer(),
    active: Type.Boolean(),
    dateRange: Type.Array(Type.String()),
    timeRange: Type.Array(Type.String()),
    weekdays: Type.Array(Type.Integer()),
    daysOfMonth: Type.Array(Type.Integer()),
    timeslotList: Type.Array(Type.Object({ startDate: Type.String(), endDate: Type.String() })),
    cron: Type.Null(),
    duration: Type.Null(),
    durationMinutes: Type.Null(),
    timezone: Type.String(),
    timezoneOption: Type.String(),
    timezoneOffset: Type.String({ examples: ["+01:00"] }),
    status: Type.Literal("under-maintenance"),
  },
  { title: "KumaMaintenance" },
);
type KumaMaintenance = Static<typeof KumaMaintenance>;

export const KumaPage = Type.Object(
  {
    config: Type.Object({
      slug: Type.String(),
      title: Type.String(),
      description: Nullable(Type.String()),
      icon: Type.String(),
      autoRefreshInterval: Type.Integer(),
      theme: Type.String(),
      published: Type.Boolean(),
      showTags: Type.Boolean(),
      customCSS: Type.String(),
      footerText: Type.Null(),
      showPoweredBy: Type.Boolean(),
      analyticsId: Type.Null(),
      analyticsScriptUrl: Type.Null(),
      analyticsType: Type.Null(),
      googleAnalyticsId: Type.Null(),
      showCertificateExpiry: Type.Boolean(),
      showOnlyLastHeartbeat: Type.Boolean(),
      rssTitle: Type.Null(),
    }),
    incident: Nullable(KumaIncident),
    incidents: Type.Array(KumaIncident),
    publicGroupList: Type.Array(KumaGroup),
    maintenanceList: Type.Array(KumaMaintenance),
  },
  { title: "KumaPage" },
);
export type KumaPage = Static<typeof KumaPage>;

export const KumaHeartbeats = Type.Object(
  {
    heartbeatList: Type.Record(
      Type.String(),
      Type.Array(
        Type.Object({
          status: Type.Integer({ description: "0 down, 1 up, 2 pending, 3 maintenance." }),
          time: Time,
          msg: Type.Literal(""),
          ping: Nullable(Type.Number()),
        }),
      ),
    ),
    uptimeList: Type.Record(Type.String(), Type.Number({ minimum: 0, maximum: 1 })),
  },
  { title: "KumaHeartbeats" },
);
export type KumaHeartbeats = Static<typeof KumaHeartbeats>;

export const KumaIncidentHistory = Type.Object(
  {
    ok: Type.Literal(true),
    incidents: Type.Array(KumaIncident),
    total: Type.Integer(),
    nextCursor: Nullable(Time),
    hasMore: Type.Boolean(),
  },
  { title: "KumaIncidentHistory" },
);
export type KumaIncidentHistory = Static<typeof KumaIncidentHistory>;

export const KumaManifest = Type.Object(
  {
    name: Type.String(),
    start_url: Type.String(),
    display: Type.Literal("standalone"),
    icons: Type.Array(
      Type.Object({ src: Type.String(), sizes: Type.String(), type: Type.String() }),
    ),
  },
  { title: "KumaManifest" },
);

export const KumaEntryPage = Type.Object(
  {
    type: Type.String(),
    entryPage: Type.Optional(Type.String({ examples: ["statusPage-acme"] })),
    statusPageSlug: Type.Optional(Type.String()),
  },
  { title: "KumaEntryPage" },
);

export const KumaError = Type.Object(
  { status: Type.Literal("fail"), msg: Type.String() },
  { title: "KumaError" },
);

/** Returns a time (unix ms) as `YYYY-MM-DD HH:mm:ss` in UTC, with milliseconds if asked. */
function utcText(ms: number, hasMilliseconds = false): string {
  return toIso(ms)
    .slice(0, hasMilliseconds ? 23 : 19)
    .replace("T", " ");
}

/** Returns a time (unix ms) as `YYYY-MM-DD HH:mm:ss` in a time zone. */
function zonedText(ms: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone,
    dateStyle: "short",
    timeStyle: "medium",
  });
  return format.format(ms);
}

/** Returns the offset of a time zone from UTC at a time (unix ms), such as `+01:00`. */
function offsetOf(ms: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" });
  const name = format.formatToParts(ms).find(({ type }) => type === "timeZoneName")?.value ?? "";
  return name.replace("GMT", "") || "+00:00";
}
