import type { Reader } from "../../db/statements";
import type { Impact, MonitorState } from "../../base/status";
import {
  BEAT,
  type CompatEntry,
  keysOf,
  readBeats,
  readEntries,
} from "../../features/compat/entries";
import { latencyOfEach } from "../../features/monitors/latency";
import { listNewestSpans } from "../../features/monitors/checks-store";
import type { Snapshot } from "../../features/status/snapshot";
import { HOUR_MS, toIso } from "../../base/time";
import type { GatusConfig, GatusEndpoint, GatusEndpointStatus, GatusHistory } from "./model";

const EVENTS_MAX = 50;
const NANOSECONDS = 1_000_000;

/** Part of the results: pages count from 1, the newest. */
export interface ResultPage {
  page: number;
  pageSize: number;
}

/** An entry with its key. */
export interface KeyedEntry extends CompatEntry {
  key: string;
}

/** Lists the entries of a page by key. */
function keyedEntries(reader: Reader, snapshot: Snapshot): KeyedEntry[] {
  const keys = keysOf(reader, snapshot);
  return readEntries(reader, snapshot)
    .map((entry) => ({ ...entry, key: keys.get(entry.component.id) ?? "" }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** Finds the entry with a key. */
export function findKeyed(reader: Reader, snapshot: Snapshot, key: string): KeyedEntry | undefined {
  return keyedEntries(reader, snapshot).find((entry) => entry.key === key);
}

/** Results that are passed over in half a millisecond. */
const SKIPPED_PER_UNIT = 1_000;

/** Returns all entries of a page with their results, by key, in steps. */
export function* endpointStatuses(
  reader: Reader,
  snapshot: Snapshot,
  part: ResultPage,
): Generator<number, GatusEndpoint[]> {
  const endpoints: GatusEndpoint[] = [];
  for (const entry of keyedEntries(reader, snapshot)) {
    yield 1 + Math.floor(((part.page - 1) * part.pageSize) / SKIPPED_PER_UNIT);
    endpoints.push(endpointOf(reader, snapshot, entry, part));
  }
  return endpoints;
}

/** Returns one entry with its results and events, at `now` (unix ms). */
export function endpointStatus(
  reader: Reader,
  snapshot: Snapshot,
  entry: KeyedEntry,
  { now, ...part }: ResultPage & { now: number },
): GatusEndpointStatus {
  return {
    ...endpointOf(reader, snapshot, entry, part),
    events: eventsOf(reader, entry, now),
  };
}

function endpointOf(
  reader: Reader,
  { records }: Snapshot,
  entry: KeyedEntry,
  { page, pageSize }: ResultPage,
): GatusEndpoint {
  const { component, key } = entry;
  const group = records.groups.find(({ id }) => id === component.group_id)?.name;
  const beats = readBeats(reader, entry, pageSize, (page - 1) * pageSize);
  return {
    name: component.name,
    ...(group === undefined ? {} : { group }),
    key,
    results: beats.map(({ status, at, latencyMs }) => ({
      duration: (latencyMs ?? 0) * NANOSECONDS,
      success: status === BEAT.up || status === BEAT.maintenance,
      timestamp: toIso(at),
    })),
  };
}

const EVENT_TYPES: Readonly<Partial<Record<MonitorState, "HEALTHY" | "UNHEALTHY">>> = {
  up: "HEALTHY",
  degraded: "HEALTHY",
  down: "UNHEALTHY",
};

function eventsOf(
  reader: Reader,
  { component, watcher }: CompatEntry,
  now: number,
): GatusEndpointStatus["events"] {
  const start = { type: "START" as const, timestamp: component.created_at };
  if (!watcher) return [start];
  const spans = listNewestSpans(reader, {
    monitorNum: watcher.num,
    from: 0,
    to: now,
    limit: EVENTS_MAX * 2,
  }).toReversed();
  const events = spans.flatMap(({ state, startedAt }) => {
    const type = EVENT_TYPES[state];
    return type === undefined ? [] : [{ type, timestamp: toIso(startedAt) }];
  });
  const changes = events.filter(({ type }, index) => type !== events[index - 1]?.type);
  return [start, ...changes].slice(-EVENTS_MAX);
}

/** Returns the mean response time of an entry in a span of unix ms; 0 without one, or if none is shown. */
export function averageOf(
  reader: Reader,
  entry: CompatEntry,
  span: { from: number; to: number },
): number {
  const num = measuredBy(entry);
  if (num === undefined) return 0;
  return Math.trunc(latencyOfEach(reader, [num], [span]).total.avgMs ?? 0);
}

/** Returns the mean response times of whole hours, oldest first; 0 for hours without one. */
export function hourlyAverages(
  reader: Reader,
  entry: CompatEntry,
  { from, to }: { from: number; to: number },
): GatusHistory {
  const num = measuredBy(entry);
  if (num === undefined) return { timestamps: [], values: [] };
  const start = Math.floor(from / HOUR_MS) * HOUR_MS;
  const hours = Array.from({ length: Math.ceil((to - start) / HOUR_MS) }, (_, index) => {
    const begin = start + index * HOUR_MS;
    return { from: begin, to: begin + HOUR_MS };
  });
  const { each, total } = latencyOfEach(reader, [num], hours);
  if (total.avgMs === null) return { timestamps: [], values: [] };
  return {
    timestamps: hours.map((hour) => hour.from),
    values: (each[0] ?? []).map(({ avgMs }) => Math.trunc(avgMs ?? 0)),
  };
}

/** Returns the number of the monitor whose response times the page shows. */
function measuredBy({ component, watcher }: CompatEntry): number | undefined {
  return component.show_latency && watcher?.type !== "push" ? watcher?.num : undefined;
}

const ANNOUNCED: Readonly<Record<Impact, string>> = {
  critical: "outage",
  major: "outage",
  minor: "warning",
  none: "information",
};

/** Returns the open incidents as announcements, newest first. */
export function announcements({ records }: Snapshot): GatusConfig {
  return {
    oidc: false,
    authenticated: true,
    announcements: records.incidents.map(({ row, updates }) => ({
      timestamp: toIso(row.startedAt),
      type: ANNOUNCED[row.impact],
      message: [row.name, updates[0]?.body ?? ""].filter((text) => text !== "").join(": "),
    })),
  };
}
