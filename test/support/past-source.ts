import { CLI_ACTOR } from "../../src/base/actor";
import type { ImportReport } from "../../src/base/import-report";
import { performImport } from "../../src/imports/import";
import { type HistoryStep, importHistory } from "../../src/imports/history/write";
import type { ImportOptions } from "../../src/imports/sources";
import {
  BEAT,
  emptyFound,
  type Found,
  type FoundHistory,
  type FoundMonitor,
  type HistoryChunk,
  type HistoryRange,
  type HistorySum,
  type LastState,
} from "../../src/imports/found";
import type { TestApp } from "./app";

/** A beat of a source, in unix ms. */
export interface Beat {
  at: number;
  kind: keyof typeof BEAT;
  latencyMs?: number | null;
  message?: string;
}

/** History of one monitor of a source. */
export interface Past {
  beats: readonly Beat[];
  sums?: readonly HistorySum[];
  /** State of the last beat; by default as the beats leave it. */
  last?: LastState | undefined;
}

/** Number of beats of a chunk of tests, so that there are several. */
const CHUNK = 1_000;

/** Returns a history with the monitors' pasts by their keys. `onChunk` is called before each chunk is given. */
export function pastSource(
  pasts: Readonly<Record<string, Past>>,
  onChunk: () => void = () => {},
): FoundHistory {
  const pastOf = (key: string) => pasts[key] ?? { beats: [] };
  const all = Object.values(pasts).flatMap(({ beats }) => beats);
  const times = all.map(({ at }) => at);
  return {
    estimate: () => ({
      rows: all.length,
      range: all.length === 0 ? null : { from: Math.min(...times), until: Math.max(...times) },
    }),
    lastState: (key) => ("last" in pastOf(key) ? pastOf(key).last : lastOf(pastOf(key).beats)),
    sums: (key, { from, until }) =>
      (pastOf(key).sums ?? []).filter(({ at }) => at >= from && at < until),
    *beats(key, range) {
      const own = pastOf(key).beats.filter(({ at }) => isWithin(at, range));
      for (let from = 0; from < own.length; from += CHUNK) {
        onChunk();
        yield chunkOf(own.slice(from, from + CHUNK));
      }
    },
    leftOut: () => ({}),
    [Symbol.dispose]() {},
  };
}

function isWithin(at: number, { from, until }: HistoryRange): boolean {
  return at >= from && at < until;
}

/** Returns beats as a chunk. */
export function chunkOf(beats: readonly Beat[]): HistoryChunk {
  return {
    count: beats.length,
    at: Float64Array.from(beats, ({ at }) => at),
    kind: Uint8Array.from(beats, ({ kind }) => BEAT[kind]),
    latencyMs: Int32Array.from(beats, ({ latencyMs }) => latencyMs ?? -1),
    messages: new Map(
      beats.flatMap(({ message }, index) => (message === undefined ? [] : [[index, message]])),
    ),
    rows: beats.length,
  };
}

function lastOf(beats: readonly Beat[]): LastState | undefined {
  const states = beats.flatMap(({ at, kind }) =>
    kind === "up" || kind === "down" ? [{ at, state: kind } as const] : [],
  );
  const last = states.at(-1);
  if (!last) return undefined;
  const since = states[states.findLastIndex(({ state }) => state !== last.state) + 1]?.at;
  return { state: last.state, since: since ?? last.at, at: last.at, message: null };
}

/** Returns beats at regular times, oldest first, each made from its index. */
export function regularBeats(
  { from, until }: HistoryRange,
  everyMs: number,
  make: (index: number, at: number) => Omit<Beat, "at"> = () => ({ kind: "up", latencyMs: 20 }),
): Beat[] {
  return Array.from({ length: Math.ceil((until - from) / everyMs) }, (_, index) => {
    const at = from + index * everyMs;
    return { at, ...make(index, at) };
  });
}

/** Returns a found HTTP monitor with the key `monitor:<name>`, checked every minute. */
export function pastMonitor(name: string, body: Partial<FoundMonitor["body"]> = {}): FoundMonitor {
  return {
    foreign: { type: "monitor", id: name, name },
    body: {
      type: "http",
      name,
      config: { url: `https://${name}.test/` },
      interval_seconds: 60,
      ...body,
    } as FoundMonitor["body"],
    changes: [],
    number: null,
    components: "internal",
    dependsOn: [],
    tokens: [],
  };
}

/** Returns a found source with these monitors and a history. */
export function foundPast(monitors: readonly FoundMonitor[], history: FoundHistory): Found {
  return { ...emptyFound("uptime-kuma"), monitors: [...monitors], history };
}

/** Options of an import that a test does not set. */
export const IMPORT_OPTIONS: ImportOptions = {
  source: "default",
  isDryRun: false,
  isPaused: false,
  only: undefined,
  historyDays: null,
  internalPage: "internal",
  takesDomains: false,
};

/** Imports a source with its history, as the command does. */
export async function importPast(
  { ctx }: Pick<TestApp, "ctx">,
  found: Found,
  given: Partial<ImportOptions> = {},
  onStep: (step: HistoryStep) => void = () => {},
): Promise<ImportReport> {
  const options = { ...IMPORT_OPTIONS, ...given };
  const write: typeof ctx.db.write = (change) => ctx.db.write(change);
  const report = await performImport(ctx, write, found, options, CLI_ACTOR);
  return importHistory(ctx, found, options, report, onStep);
}

/** Returns the sum of a day, an hour or a minute of a monitor that was up, with answers of 20 ms. */
export function sumOf(at: number, size: number, checks: number, failures = 0): HistorySum {
  const answers = checks - failures;
  const latencies = { latencySum: answers * 20, latencyMin: 10, latencyMax: 30 };
  const none = { latencySum: null, latencyMin: null, latencyMax: null };
  return {
    size,
    at,
    checks,
    failures,
    answers,
    ...(answers > 0 ? latencies : none),
    maintenance: 0,
  };
}
