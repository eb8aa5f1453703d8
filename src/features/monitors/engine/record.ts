import type { Tx } from "../../../db";
import type { CheckOutcome } from "../../../domain/monitor-state";
import { type CheckRow, insertCheck } from "../checks-store";
import { evaluateCheck, type Evaluation } from "../rules";
import { type EvaluationInput, listEvaluationInputs } from "../evaluation-store";
import { findMonitor, saveCertificate, saveHeartbeat, saveEvaluation } from "../store";
import { applyTransition, type Services, writeState } from "./transitions";
import { evaluationOf, type ScheduledMonitor } from "./scheduled-monitor";

/**
 * Something to be written of a monitor: what a check found or a job said; that this server was away, so that
 * nothing is known from `at` on; or that a component of it may have come under maintenance.
 */
export interface Entry {
  kind: "check" | "heartbeat" | "away" | "maintenance";
  scheduled: ScheduledMonitor;
  /** Unix ms. */
  at: number;
  /** Real time since the result before it, in ms, whatever the wall clock says; 0 if not known. */
  elapsedMs?: number | undefined;
  outcome: CheckOutcome;
  latencyMs: number | null;
  message: string | null;
  /** The text that may be published; absent if it is the same as `message`. */
  publicMessage?: string | undefined;
  /** Absent where no certificate was seen. */
  certificateExpiresAt?: number | undefined;
  /** Whoever waits for it to be stored. */
  waiters?: PromiseWithResolvers<CheckRow | undefined>[] | undefined;
}

/** Outcome of writing an entry. */
export interface Recorded {
  entry: Entry;
  /**
   * Evaluation after the entry; undefined if the monitor is paused or deleted and nothing was
   * written.
   */
  evaluation: Evaluation | undefined;
  check: CheckRow | undefined;
}

type Evaluated = Omit<EvaluationInput, keyof Evaluation> & { evaluation: Evaluation };

/**
 * Writes some entries in their order, each with all that follows from it. What they change is decided here,
 * by what the database holds: so nothing is told twice, whatever was tried before, and nothing is written of
 * a monitor that was paused or deleted meanwhile. `isPlain` leaves events and incidents away.
 */
export function recordEntries(
  ctx: Services,
  tx: Tx,
  entries: readonly Entry[],
  isPlain: boolean,
): Recorded[] {
  if (entries.length === 0) return [];
  const nums = JSON.stringify([...new Set(entries.map(({ scheduled }) => scheduled.num))]);
  const evaluated = new Map<number, Evaluated>();
  for (const row of listEvaluationInputs(tx, { nums })) {
    evaluated.set(row.num, { ...row, evaluation: evaluationOf(row) });
  }
  return entries.map((entry) => {
    const monitor = evaluated.get(entry.scheduled.num);
    if (!monitor || monitor.paused) return { entry, evaluation: undefined, check: undefined };
    return recordOne(ctx, tx, entry, monitor, isPlain);
  });
}

/** `monitor` is brought up to date. */
function recordOne(
  ctx: Services,
  tx: Tx,
  entry: Entry,
  monitor: Evaluated,
  isPlain: boolean,
): Recorded {
  const isResult = entry.kind === "check" || entry.kind === "heartbeat";
  const check = isResult ? keepResult(tx, entry, monitor) : undefined;
  const isInMaintenance = monitor.isInMaintenance === 1;
  if (entry.kind === "maintenance" && !isInMaintenance) {
    return { entry, evaluation: monitor.evaluation, check };
  }
  const observation = {
    at: check?.at ?? entry.at,
    outcome: entry.outcome,
    latencyMs: entry.latencyMs,
  };
  // Nobody knows what this server was not there to see, under maintenance or not.
  const isMaintenanceApplied = isInMaintenance && entry.kind !== "away";
  const before = monitor.evaluation;
  const { evaluation, transition } = evaluateCheck(
    before,
    observation,
    monitor,
    isMaintenanceApplied,
  );
  monitor.evaluation = evaluation;
  if (transition) {
    const row = findMonitor(tx, { id: monitor.id });
    const { message, publicMessage } = entry;
    const changes = { from: transition.from, evaluation, message, publicMessage };
    // One transaction writes the results of many monitors.
    if (row)
      ctx.outbox.group(tx, () => (isPlain ? writeState : applyTransition)(ctx, tx, row, changes));
  } else if (evaluation !== before) {
    saveEvaluation(tx, { ...evaluation, monitorNum: monitor.num });
  }
  return { entry, evaluation, check };
}

/**
 * Writes a result. One that is older than the result before it, since the clock was set back, comes right
 * behind that; during an outage it comes behind by the time that really passed, so outages keep their length.
 */
function keepResult(tx: Tx, entry: Entry, monitor: Evaluated): CheckRow {
  const { num: monitorNum } = monitor;
  const elapsedMs = monitor.evaluation.state === "down" ? Math.floor(entry.elapsedMs ?? 0) : 0;
  const earliest = (monitor.lastAt ?? -1) + Math.max(1, elapsedMs);
  const at = Math.max(Math.round(entry.at), earliest);
  monitor.lastAt = at;
  const latencyMs = entry.latencyMs === null ? null : Math.round(entry.latencyMs);
  const check = { monitorNum, at, outcome: entry.outcome, latencyMs, message: entry.message };
  insertCheck(tx, check);
  if (entry.kind === "heartbeat") saveHeartbeat(tx, { monitorNum, at });
  const expiresAt = entry.certificateExpiresAt;
  if (expiresAt !== undefined && expiresAt !== monitor.certificateExpiresAt) {
    monitor.certificateExpiresAt = expiresAt;
    saveCertificate(tx, { monitorNum, expiresAt });
  }
  return check;
}
