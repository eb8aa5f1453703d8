/* The check of a monitor of the type alert: its open alerts tell how its target is. */
import type { MonitorState } from "../../../base/status";
import { firstNames, plural } from "../../../base/text";
import { describeDuration, SECOND_MS } from "../../../base/time";
import type { Ctx } from "../../../context";
import type { Alarms } from "../../alarms/alarms";
import {
  deleteStaleAlerts,
  findFirstAlert,
  listLevels,
  SEEN_EXACT_MS,
} from "../alerts/alert-store";
import type { ProbeResult } from "../monitoring";
import { type AlertConfig, staleMsOf } from "../probes/alert";
import { findMonitor, findMonitorByRef, findMonitorState } from "../store";
import type { ScheduledMonitor } from "./registry";

/** Time after which alerts are read again that could not be read. */
const RETRY_MS = 10 * SECOND_MS;

/** Names of monitors that an alarm lists. */
const NAMES_MAX = 5;

interface AlertResult {
  /** Undefined before the first report, and if the alerts could not be read. */
  result: ProbeResult | undefined;
  /** Time after which an alert may be stale, in ms; Infinity without an open one. */
  againMs: number;
}

interface AlertCheckParts {
  ctx: Ctx;
  alarms: Pick<Alarms, "raise" | "clear"> | undefined;
  /** Returns the time since which this server could be reached, in unix ms. Before, no sender could repeat an alert. */
  heardSince(): number;
  /** Returns the state of another monitor. */
  stateOf(id: string): MonitorState | undefined;
}

/** Checks monitors by their open alerts, and tells the team about those whose last one is stale, by one alarm. */
export class AlertChecks {
  readonly #parts: AlertCheckParts;
  /** Ids of the monitors whose last open alert is stale. */
  readonly #stale = new Set<string>();

  constructor(parts: AlertCheckParts) {
    this.#parts = parts;
  }

  /** Never throws: if the alerts cannot be read, the state stays, and they are read again soon. */
  run(scheduled: ScheduledMonitor): AlertResult {
    try {
      return this.#read(scheduled);
    } catch (error) {
      this.#parts.ctx.log.error({ err: error, monitor: scheduled.id }, "alerts could not be read");
      return { result: undefined, againMs: RETRY_MS };
    }
  }

  #read({ id, num: monitorNum, config: stored }: ScheduledMonitor): AlertResult {
    const { ctx, heardSince } = this.#parts;
    const now = ctx.clock.now();
    const config = stored as AlertConfig;
    const staleMs = staleMsOf(config) + SEEN_EXACT_MS;
    const since = heardSince();
    const seenBy = now - staleMs < since ? 0 : now - staleMs;
    const levels = listLevels(ctx.db, { monitorNum, seenBy });
    const level = (["down", "degraded"] as const).find((each) =>
      levels.some((row) => row.level === each && row.live > 0),
    );
    const hasStale = levels.some(({ stale }) => stale > 0);
    this.#noteStale(id, hasStale && level === undefined);
    if (level === undefined) {
      const message = hasStale
        ? `The last open alert was not reported again for ${describeDuration(staleMsOf(config))}.`
        : this.#watchdogProblem(config);
      const isHeard = findMonitorState(ctx.db, { monitorNum })?.heartbeatAt != null;
      const outcome = message === undefined ? "ok" : "unknown";
      const result = { outcome, latencyMs: null, message: message ?? null } as const;
      const isKnown = isHeard || message !== undefined;
      return { result: isKnown ? result : undefined, againMs: Number.POSITIVE_INFINITY };
    }
    if (hasStale) this.#dropStale(monitorNum, seenBy);
    const first = findFirstAlert(ctx.db, { monitorNum, level, seenBy });
    const title = first?.title ?? "Alert";
    const others = levels.reduce((sum, { live }) => sum + live, 0) - 1;
    const oldest = Math.min(...levels.map(({ oldestReport }) => oldestReport ?? Infinity));
    return {
      result: {
        outcome: level === "down" ? "failed" : "ok",
        latencyMs: null,
        message: others === 0 ? title : `${title} (and ${plural(others, "other alert")})`,
        since: first?.startedAt,
        isDegraded: level === "degraded",
      },
      againMs: Math.max(oldest, since) + staleMs - now,
    };
  }

  /** Forgets a monitor that was deleted or paused. */
  forget({ id }: ScheduledMonitor): void {
    this.#noteStale(id, false);
  }

  /** Returns a sentence about a watchdog that is down or does not exist; undefined without such a one. */
  #watchdogProblem({ watchdog }: AlertConfig): string | undefined {
    if (watchdog === undefined) return undefined;
    const { db } = this.#parts.ctx;
    const row = findMonitor(db, { id: watchdog }) ?? findMonitorByRef(db, { ref: watchdog });
    if (!row) return `The watchdog “${watchdog}” does not exist.`;
    return this.#parts.stateOf(row.id) === "down"
      ? `The watchdog “${row.name}” is down.`
      : undefined;
  }

  /** Deletes stale alerts beside others that are open. */
  #dropStale(monitorNum: number, seenBy: number): void {
    const { db, log } = this.#parts.ctx;
    db.write((tx) => deleteStaleAlerts(tx, { monitorNum, seenBy })).catch((error: unknown) =>
      // The next check drops them.
      log.warn({ err: error }, "stale alerts could not be dropped"),
    );
  }

  #noteStale(id: string, isStale: boolean): void {
    if (this.#stale.has(id) === isStale) return;
    if (isStale) this.#stale.add(id);
    else this.#stale.delete(id);
    const { ctx, alarms } = this.#parts;
    if (this.#stale.size === 0) {
      alarms?.clear("alerts_stale");
      return;
    }
    const names = [...this.#stale].map(
      (each) => `“${findMonitor(ctx.db, { id: each })?.name ?? each}”`,
    );
    const detail = `The last open alert of ${firstNames(names, NAMES_MAX)} was not reported again. Find out if it still fires, then use “Nothing is firing” on the monitor's screen.`;
    alarms?.raise("alerts_stale", detail);
  }
}
