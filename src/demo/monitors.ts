import type { Ctx } from "../context";
import type { Tx } from "../db/statements";
import type { Actor } from "../base/actor";
import { createMonitor } from "../features/monitors/monitors";
import type { CreateMonitorBody } from "../features/monitors/wire";
import { type MonitorConfig, probeOf } from "../features/monitors/probes";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../base/time";
import { type PastTrouble, writeHistory } from "./history";
import { MONITOR_PLANS, type MonitorPlan } from "./monitor-plans";
import type { DemoPage } from "./pages";
import { type Fraction, PAST_INCIDENTS, startOfIncident } from "./year";

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
    const { row } = createMonitor(ctx, tx, input, actor).record;
    const isScheduled = plan.input.config !== undefined && "schedule" in plan.input.config;
    const intervalMs = isScheduled ? HOUR_MS : (row.intervalSeconds ?? 60) * SECOND_MS;
    if (plan.latencyMs === null) jobs.push({ monitorId: row.id, intervalMs });
    const { id, num, onDown, createdAt } = row;
    const troubles = troublesOf(plan, year);
    const past = { id, num, onDown, componentIds, createdAt, intervalMs, troubles };
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
