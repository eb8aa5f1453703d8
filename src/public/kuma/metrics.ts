import type { Reader } from "../../db/statements";
import { kumaTypeOf } from "../../base/compat";
import type { MonitorState } from "../../base/status";
import { uptimeByMonitor } from "../../features/analytics/uptime";
import { BEAT, numbersOf } from "../../features/compat/entries";
import { latencyTogether } from "../../features/monitors/latency";
import { listMonitors, type MonitorRecord } from "../../features/monitors/records";
import { DAY_MS } from "../../base/time";

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
