import type { Actor } from "../base/actor";
import { sketchOf, sketchToBytes } from "../base/sketch";
import type { MonitorType, OnDown } from "../base/status";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../base/time";
import { composed } from "../base/validation";
import type { Ctx } from "../context";
import type { Tx } from "../db/statements";
import { deleteSpans } from "../features/monitors/spans-store";
import { createMonitor } from "../features/monitors/monitors";
import { type MonitorConfig, probeOf } from "../features/monitors/probes";
import type { CreateMonitorBody } from "../features/monitors/wire";
import {
  insertCauses,
  insertChecks,
  insertRollups,
  insertSignals,
  insertSpans,
  type RollupRow,
  saveUp,
} from "./store";
import { MONITOR_PLANS, type MonitorPlan, SLOW_FACTOR } from "./monitor-plans";
import { type DemoPage, type Fraction, PAST_INCIDENTS, startOfIncident } from "./year";

/** A job whose runs the simulation reports. */
export interface DemoJob {
  monitorId: string;
  intervalMs: number;
}

interface Year {
  pages: { open: DemoPage; inside: DemoPage };
  actor: Actor;
  /** Start of the day, and the present, in unix ms. */
  today: number;
  now: number;
  fraction: Fraction;
}

/** Creates the monitors with their history. Returns those that wait for calls of a job. */
export function addMonitors(ctx: Ctx, tx: Tx, year: Year): DemoJob[] {
  const { pages, actor, now, fraction } = year;
  const jobs: DemoJob[] = [];
  for (const plan of MONITOR_PLANS) {
    const componentIds = plan.components.map((name) => componentOf(pages, name));
    const input = { ...supported(plan.input), component_ids: componentIds } as CreateMonitorBody;
    const { row } = createMonitor(ctx, tx, composed(input), actor).record;
    const isScheduled = plan.input.config !== undefined && "schedule" in plan.input.config;
    const intervalMs = isScheduled ? HOUR_MS : (row.intervalSeconds ?? 60) * SECOND_MS;
    if (row.type === "push") jobs.push({ monitorId: row.id, intervalMs });
    const { id, num, onDown, createdAt, type } = row;
    const troubles = troublesOf(plan, year);
    const past = { id, num, type, onDown, componentIds, createdAt, intervalMs, troubles };
    writeHistory(tx, { ...past, latencyMs: plan.latencyMs }, now, fraction);
  }
  return jobs;
}

function componentOf({ open, inside }: Year["pages"], name: string): string {
  try {
    return open.component(name);
  } catch {
    return inside.component(name);
  }
}

/** Returns the input, with another type if this machine lacks the program that the type needs. */
function supported(input: MonitorPlan["input"]): MonitorPlan["input"] {
  const { type, config = {} } = input;
  if (type !== "ping" || probeOf(type).findMissingProgram?.() === undefined) return input;
  return { ...input, type: "tcp", config: { ...config, port: 443 } as MonitorConfig };
}

/** Returns the troubles of a year: during the incidents of its components, and a few short ones. */
function troublesOf(
  { input: { name, degraded_after_ms: limitMs }, components, latencyMs }: MonitorPlan,
  { today, fraction }: Year,
): PastTrouble[] {
  if (latencyMs === null) return [];
  const canDegrade = typeof limitMs === "number";
  const ofIncidents = PAST_INCIDENTS.flatMap((past, index): PastTrouble[] => {
    if (!components.includes(past.component) || past.minutes === 0) return [];
    const from = startOfIncident(index, today, fraction);
    const state = past.status === "degraded_performance" ? "degraded" : "down";
    if (state === "degraded" && !canDegrade) return [];
    return [{ from, to: from + past.minutes * MINUTE_MS, state, hasIncident: true }];
  });
  const count = 3 + Math.floor(fraction("short", name) * 4);
  const short = Array.from({ length: count }, (_, n): PastTrouble => {
    const from = Math.round(today - DAY_MS * (2 + 360 * fraction("short", name, n)));
    const to = from + Math.round((2 + 9 * fraction("length", name, n)) * MINUTE_MS);
    const state = canDegrade && fraction("state", name, n) >= 0.5 ? "degraded" : "down";
    return { from, to, state, hasIncident: false };
  });
  const all = [...ofIncidents, ...short].toSorted((a, b) => a.from - b.from);
  return all.filter(({ from }, index) => index === 0 || from > (all[index - 1]?.to ?? 0));
}

/** Ages of the oldest figures, by size. Charts of longer times use larger sizes. */
const KEPT = [
  { size: MINUTE_MS, ageMs: 25 * HOUR_MS },
  { size: HOUR_MS, ageMs: 365 * DAY_MS },
  { size: DAY_MS, ageMs: 365 * DAY_MS },
] as const;
/** Age of the oldest results that are written one by one, in ms. */
const RESULTS_MS = 2 * HOUR_MS;
/** Number of different figures of each size of a monitor. */
const VARIANTS = 48;
const TIMED_OUT = "Timed out connecting.";

/** Trouble in the past, in unix ms. */
interface PastTrouble {
  from: number;
  to: number;
  state: "down" | "degraded";
  /** True if an incident gives the components their status. */
  hasIncident: boolean;
}

interface PastMonitor {
  id: string;
  num: number;
  type: MonitorType;
  onDown: OnDown;
  componentIds: readonly string[];
  /** Null for one that waits for reports. */
  latencyMs: number | null;
  intervalMs: number;
  createdAt: number;
  /** In the order of time, without overlaps. */
  troubles: readonly PastTrouble[];
}

/** Writes a year of a monitor that is up at `now` (unix ms), in bulk. */
function writeHistory(tx: Tx, monitor: PastMonitor, now: number, fraction: Fraction): void {
  const { num: monitorNum, latencyMs } = monitor;
  const hour = now - (now % HOUR_MS);
  writeSpans(tx, monitor);
  const since = monitor.troubles.at(-1)?.to ?? monitor.createdAt;
  const heartbeatAt = latencyMs === null ? Math.max(hour + MINUTE_MS, now - MINUTE_MS) : null;
  saveUp(tx, { monitorNum, since, rolledUntil: hour, heartbeatAt });
  if (monitor.type === "push") writeRuns(tx, monitor, now);
  if (latencyMs === null) return;
  for (const { size, ageMs } of KEPT) {
    const until = size === DAY_MS ? now - (now % DAY_MS) : hour;
    insertRollups(
      tx,
      rollupsOf(monitor, { latencyMs, size, from: until - ageMs, until }, fraction),
    );
  }
  writeChecks(tx, monitor, latencyMs, now, fraction);
}

/** Writes the timeline, and the statuses of components during trouble without an incident. */
function writeSpans(tx: Tx, { id, num, onDown, componentIds, createdAt, troubles }: PastMonitor) {
  let at = createdAt;
  const spans = troubles.flatMap(({ from, to, state }) => {
    const up = {
      monitorNum: num,
      startedAt: at,
      endedAt: from,
      state: "up",
      message: null,
    } as const;
    at = to;
    const message = state === "down" ? TIMED_OUT : null;
    return [up, { monitorNum: num, startedAt: from, endedAt: to, state, message }];
  });
  const last = {
    monitorNum: num,
    startedAt: at,
    endedAt: null,
    state: "up",
    message: null,
  } as const;
  deleteSpans(tx, { monitorNum: num });
  insertSpans(tx, [...spans, last]);
  insertCauses(
    tx,
    troubles
      .filter(({ hasIncident }) => !hasIncident)
      .flatMap(({ from, to, state }) =>
        componentIds.map((componentId) => ({
          componentId,
          source: "monitor" as const,
          sourceId: id,
          status: state === "down" ? onDown : ("degraded_performance" as const),
          startedAt: from,
          endedAt: to,
        })),
      ),
  );
}

interface Rolled {
  latencyMs: number;
  /** Size of the figures, and their time, in ms. */
  size: number;
  from: number;
  until: number;
}

function rollupsOf(monitor: PastMonitor, rolled: Rolled, fraction: Fraction): RollupRow[] {
  const { num: monitorNum, intervalMs, createdAt, troubles } = monitor;
  const { latencyMs, size, from, until } = rolled;
  const checks = Math.floor(size / intervalMs);
  if (checks === 0) return [];
  // Figures vary little, so that few of them are made and repeated.
  const usual = Array.from({ length: VARIANTS }, (_, variant) => {
    const hour = (variant / VARIANTS) * 24;
    return figuresOf(latenciesOf(checks, latencyMs * dayFactor(hour), variant, fraction), 0);
  });
  const rows: RollupRow[] = [];
  for (let at = Math.max(from, Math.ceil(createdAt / size) * size); at < until; at += size) {
    const within = troubles.filter((one) => one.from < at + size && one.to > at);
    rows.push({
      monitorNum,
      size,
      at,
      ...(within.length > 0 ? troubled(at, within) : usualAt(at)),
    });
  }
  return rows;

  function usualAt(at: number) {
    const step = size === DAY_MS ? at / DAY_MS : Math.floor(((at % DAY_MS) / DAY_MS) * VARIANTS);
    const variant = (step + Math.floor(fraction(monitorNum, at) * 2)) % VARIANTS;
    return usual[variant] ?? figuresOf([], 0);
  }

  function troubled(at: number, within: readonly PastTrouble[]) {
    // Counted by their times, so that hours add up to their day.
    const checksBefore = (time: number) =>
      Math.ceil(Math.min(Math.max(time, at), at + size) / intervalMs);
    const affected = (state: PastTrouble["state"]) =>
      within
        .filter((one) => one.state === state)
        .reduce((sum, one) => sum + checksBefore(one.to) - checksBefore(one.from), 0);
    const [failed, slow] = [affected("down"), affected("degraded")];
    const answered = [
      ...latenciesOf(checks - failed - slow, latencyMs, at, fraction),
      ...latenciesOf(slow, latencyMs * SLOW_FACTOR, at, fraction),
    ];
    return figuresOf(answered, failed);
  }
}

/** Returns the factor of the response time at an hour of the day: higher in the afternoon. */
function dayFactor(hour: number): number {
  return 1 + 0.22 * Math.sin(((hour - 9) / 24) * 2 * Math.PI);
}

/** Returns response times around a usual one, in ms. A few are longer. */
function latenciesOf(count: number, usualMs: number, row: number, fraction: Fraction): number[] {
  const start = fraction("latency", usualMs, row);
  return Array.from({ length: count }, (_, n) => {
    // Evenly spread without drawing each, since there are hundreds of thousands.
    const spread = (start + n * 0.618_034) % 1;
    return Math.max(1, Math.round(usualMs * (0.85 + 0.3 * spread + (spread > 0.97 ? 0.9 : 0))));
  });
}

function figuresOf(latencies: readonly number[], failures: number) {
  const answers = latencies.length;
  const sum = latencies.reduce((a, b) => a + b, 0);
  const bound = (pick: (a: number, b: number) => number) =>
    answers === 0 ? null : latencies.reduce((a, b) => pick(a, b));
  return {
    checks: answers + failures,
    failures,
    answers,
    latencySum: answers === 0 ? null : sum,
    latencyMin: bound(Math.min),
    latencyMax: bound(Math.max),
    sketch: answers === 0 ? null : sketchToBytes(sketchOf(latencies)),
  };
}

/** Writes the results that are newer than the figures, and some more, for the lists of results. */
function writeChecks(
  tx: Tx,
  { num: monitorNum, intervalMs, createdAt, troubles }: PastMonitor,
  latencyMs: number,
  now: number,
  fraction: Fraction,
): void {
  const from = Math.max(createdAt, now - Math.max(RESULTS_MS, 3 * intervalMs));
  const first = Math.ceil(from / intervalMs) * intervalMs;
  const offset = Math.floor(fraction("phase", monitorNum) * 1_000);
  const ats = Array.from(
    { length: Math.max(0, Math.ceil((now - offset - first) / intervalMs)) },
    (_, n) => first + n * intervalMs + offset,
  );
  insertChecks(
    tx,
    ats.map((at) => {
      const isFailed = troubles.some(
        (one) => one.state === "down" && one.from <= at && one.to > at,
      );
      const [latency = null] = isFailed ? [] : latenciesOf(1, latencyMs, at, fraction);
      const outcome = isFailed ? ("failed" as const) : ("ok" as const);
      return { monitorNum, at, outcome, latencyMs: latency, message: isFailed ? TIMED_OUT : null };
    }),
  );
}

/** Writes the last runs of a job, and their results. */
function writeRuns(
  tx: Tx,
  { num: monitorNum, intervalMs }: { num: number; intervalMs: number },
  now: number,
): void {
  const runs = Array.from({ length: 24 }, (_, n) => {
    const at = now - (now % intervalMs) - (23 - n) * intervalMs;
    return { at, durationMs: 40 * SECOND_MS + ((n * 7_919) % 23) * SECOND_MS };
  }).filter(({ at, durationMs }) => at + durationMs < now);
  const none = { monitorNum, rid: "", message: null };
  insertSignals(
    tx,
    runs.flatMap(({ at, durationMs }, n) => [
      {
        ...none,
        position: 2 * n + 1,
        at,
        kind: "start" as const,
        exitCode: null,
        startedAt: null,
        durationMs: null,
      },
      {
        ...none,
        position: 2 * n + 2,
        at: at + durationMs,
        kind: "success" as const,
        exitCode: 0,
        startedAt: at,
        durationMs,
      },
    ]),
  );
  insertChecks(
    tx,
    runs.map(({ at, durationMs }) => ({
      monitorNum,
      at: at + durationMs,
      outcome: "ok" as const,
      latencyMs: durationMs,
      message: null,
    })),
  );
}
