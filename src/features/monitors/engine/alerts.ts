/* The check of a monitor of the type alert: its open alerts tell how its target is. */
import type { MonitorState } from "../../../base/status";
import { plural } from "../../../base/text";
import { describeDuration } from "../../../base/time";
import type { Reader } from "../../../db/statements";
import type { Alarms } from "../../alarms/alarms";
import { findFirstAlert, listLevels } from "../alerts/alert-store";
import { staleBy } from "../alerts/reports";
import type { ProbeResult } from "../monitoring";
import { type AlertConfig, staleMsOf } from "../probes/alert";
import { findMonitor, findMonitorByRef, findMonitorState } from "../store";
import type { ScheduledMonitor } from "./registry";

/** Result of the open alerts of a monitor. */
interface AlertCheck {
  /** Undefined before the first report. */
  result: ProbeResult | undefined;
  /** Time after which an alert may be stale, in ms; Infinity without an open one. */
  againMs: number;
  /** True if nobody has reported the last open alert for too long. */
  isStale: boolean;
}

/** Facts beside the alerts that decide. Times are unix ms. */
interface Circumstances {
  now: number;
  /** Time since which this server could be reached. Before, no sender could repeat an alert. */
  heardSince: number;
  /** Returns the state of another monitor. */
  stateOf(id: string): MonitorState | undefined;
}

/** Judges a monitor by its open alerts. */
export function checkAlerts(
  reader: Reader,
  { num: monitorNum, config: stored }: Pick<ScheduledMonitor, "num" | "config">,
  circumstances: Circumstances,
): AlertCheck {
  const { now, heardSince } = circumstances;
  const config = stored as AlertConfig;
  const staleMs = staleMsOf(config);
  const seenBy = staleBy(config, now, heardSince);
  const levels = listLevels(reader, { monitorNum, seenBy });
  const level = (["down", "degraded"] as const).find((each) =>
    levels.some((row) => row.level === each && row.live > 0),
  );
  if (level !== undefined) {
    const oldest = Math.min(...levels.map(({ oldestReport }) => oldestReport ?? Infinity));
    const { title, startedAt } = findFirstAlert(reader, { monitorNum, level, seenBy }) ?? {
      title: "Alert",
      startedAt: now,
    };
    const others = levels.reduce((sum, { live }) => sum + live, 0) - 1;
    const message = others === 0 ? title : `${title} (and ${plural(others, "other alert")})`;
    const isDown = level === "down";
    return {
      result: {
        outcome: isDown ? "failed" : "ok",
        latencyMs: null,
        message,
        since: startedAt,
        isDegraded: !isDown,
      },
      againMs: Math.max(oldest, heardSince) + staleMs - now,
      isStale: false,
    };
  }
  const isStale = levels.some(({ stale }) => stale > 0);
  const unknown = isStale
    ? `The last open alert was not reported again for ${describeDuration(staleMs)}.`
    : watchdogProblem(reader, config, circumstances);
  const isHeard = findMonitorState(reader, { monitorNum })?.heartbeatAt != null;
  const outcome = unknown === undefined ? "ok" : "unknown";
  const result = { outcome, latencyMs: null, message: unknown ?? null } as const;
  const isKnown = isHeard || unknown !== undefined;
  return { result: isKnown ? result : undefined, againMs: Number.POSITIVE_INFINITY, isStale };
}

/** Returns a sentence about a watchdog that is down; undefined without such a one. */
function watchdogProblem(
  reader: Reader,
  { watchdog }: AlertConfig,
  { stateOf }: Circumstances,
): string | undefined {
  if (watchdog === undefined) return undefined;
  const row = findMonitor(reader, { id: watchdog }) ?? findMonitorByRef(reader, { ref: watchdog });
  return row && stateOf(row.id) === "down" ? `The watchdog “${row.name}” is down.` : undefined;
}

/** Names of monitors that an alarm lists. */
const NAMES_MAX = 5;

/** Tells the team about monitors whose last open alert is stale, by one alarm. */
export class StaleAlerts {
  readonly #reader: Reader;
  readonly #alarms: Pick<Alarms, "raise" | "clear"> | undefined;
  readonly #ids = new Set<string>();

  constructor(reader: Reader, alarms: Pick<Alarms, "raise" | "clear"> | undefined) {
    this.#reader = reader;
    this.#alarms = alarms;
  }

  /** Notes if the last open alert of a monitor is stale. Call it for each judgement. */
  note({ id }: Pick<ScheduledMonitor, "id">, isStale: boolean): void {
    if (this.#ids.has(id) === isStale) return;
    if (isStale) this.#ids.add(id);
    else this.#ids.delete(id);
    if (this.#ids.size === 0) {
      this.#alarms?.clear("alerts_stale");
      return;
    }
    const names = [...this.#ids]
      .slice(0, NAMES_MAX)
      .map((each) => `“${findMonitor(this.#reader, { id: each })?.name ?? each}”`);
    const more = this.#ids.size - names.length;
    if (more > 0) names.push(`${more} more`);
    const detail = `Nobody has reported the last open alert of ${names.join(", ")} again. Find out if it still fires, then use “Nothing is firing” on the monitor's screen.`;
    this.#alarms?.raise("alerts_stale", detail);
  }
}
