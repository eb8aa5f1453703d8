import type { Ctx } from "../../../context";
import type { Tx } from "../../../db/statements";
import type { CheckOutcome } from "../../../base/status";
import { type CheckRow, insertCheck } from "../checks-store";
import { countHeldFailures, evaluateCheck, type Evaluation } from "../rules";
import { type EvaluationInput, listEvaluationInputs } from "../evaluation-store";
import type { SeenCertificate } from "../probe";
import { findFailingParent } from "../dependency-store";
import { findMonitor, saveCertificate, saveHeartbeat, saveEvaluation } from "../store";
import { warnOfExpiry } from "./certificate-warnings";
import { recordReminder } from "./reminders";
import { recordSignal, type SignalEntry } from "./signals";
import { applyTransition, writeState } from "./transitions";
import { evaluationOf, type ScheduledMonitor } from "./scheduled-monitor";

/**
 * An entry to write for a monitor: a result, a report of a job, a signal of one without a result, the end of
 * a time in which the server was offline (without data from `at` on), the possible start of maintenance, a reminder
 * that may be due, or that its held failures count.
 */
export interface Entry {
  kind: "check" | "heartbeat" | "signal" | "away" | "maintenance" | "reminder" | "held";
  scheduled: ScheduledMonitor;
  /** Unix ms. */
  at: number;
  /** Monotonic time since the previous result, in ms; 0 if unknown. */
  elapsedMs?: number | undefined;
  /**
   * True for a result of a check that began during maintenance. It does not count, even if the
   * maintenance has ended since.
   */
  hasBegunInMaintenance?: boolean;
  outcome: CheckOutcome;
  /** True for a failure that is held: its outcome is unknown, and it counts if the next check fails. */
  isHeld?: boolean;
  latencyMs: number | null;
  message: string | null;
  /** The text that may be published; absent if it is the same as `message`. */
  publicMessage?: string | undefined;
  /** Ids of parents whose failed check is not counted yet; absent without any. */
  uncountedParents?: readonly string[] | undefined;
  /** Absent without a certificate. */
  certificate?: SeenCertificate | undefined;
  /** Signal of a job. */
  signal?: SignalEntry | undefined;
  /** Callers that wait until it is stored. */
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

/** Inputs of the evaluation of a monitor's results, and its evaluation after those that were written. */
type Evaluated = Omit<EvaluationInput, keyof Evaluation> & { evaluation: Evaluation };

/**
 * Maximum number of entries with consequences that one transaction writes: changes of states and reminders, of about
 * 0.5 ms each. Other requests run between the transactions.
 */
export const CONSEQUENCES_MAX = 50;

/**
 * Writes entries in order with their consequences. These are decided by the state in the database,
 * so that nothing is reported twice and nothing is written for a monitor that was paused or deleted
 * meanwhile. `isPlain` leaves out events and incidents. Stops after 50 entries with consequences: the entries that
 * follow the returned ones are not written.
 */
export function recordEntries(
  ctx: Ctx,
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
  const recorded: Recorded[] = [];
  let consequences = 0;
  for (const entry of entries) {
    if (consequences === CONSEQUENCES_MAX) break;
    const monitor = evaluated.get(entry.scheduled.num);
    const state = monitor?.evaluation.state;
    recorded.push(recordOne(ctx, tx, entry, monitor, isPlain));
    if (entry.kind === "reminder" || monitor?.evaluation.state !== state) consequences += 1;
  }
  return recorded;
}

/** Writes one entry and updates `monitor`. */
function recordOne(
  ctx: Ctx,
  tx: Tx,
  entry: Entry,
  monitor: Evaluated | undefined,
  isPlain: boolean,
): Recorded {
  if (!monitor || monitor.paused) return { entry, evaluation: undefined, check: undefined };
  if (entry.signal) recordSignal(tx, monitor.num, entry.at, entry.signal);
  if (entry.kind === "signal") return { entry, evaluation: monitor.evaluation, check: undefined };
  if (entry.kind === "reminder") {
    if (!isPlain) ctx.outbox.group(tx, () => recordReminder(ctx, tx, monitor, entry.at));
    return { entry, evaluation: monitor.evaluation, check: undefined };
  }
  const isResult = entry.kind === "check" || entry.kind === "heartbeat";
  const check = isResult ? keepResult(tx, entry, monitor) : undefined;
  const isInMaintenance = monitor.isInMaintenance === 1;
  if (entry.kind === "maintenance" && !isInMaintenance) {
    return { entry, evaluation: monitor.evaluation, check };
  }
  const observation = {
    // Without a result as well, the clock may have been set back since the last one.
    at: check?.at ?? Math.max(entry.at, (monitor.lastAt ?? -1) + 1),
    outcome: entry.outcome,
    latencyMs: entry.latencyMs,
    isHeld: entry.isHeld,
  };
  const before = monitor.evaluation;
  const isFromMaintenance = entry.hasBegunInMaintenance === true && before.state === "maintenance";
  // The time in which the server was offline is without data, even during maintenance.
  const isMaintenanceApplied = (isInMaintenance || isFromMaintenance) && entry.kind !== "away";
  // A job that calls has reached this server, so the failure that it reports is its own.
  const hasFailed = entry.kind === "check" && entry.outcome === "failed";
  const failingParent =
    hasFailed && entry.scheduled.parents.length > 0
      ? findFailingParent(tx, {
          monitorId: monitor.id,
          failed: JSON.stringify(entry.uncountedParents ?? []),
        })
      : undefined;
  const { evaluation, transition } =
    entry.kind === "held"
      ? countHeldFailures(before, monitor)
      : evaluateCheck(before, observation, monitor, isMaintenanceApplied, failingParent?.id);
  monitor.evaluation = evaluation;
  if (transition) {
    const row = findMonitor(tx, { id: monitor.id });
    const { publicMessage } = entry;
    const isUnreachable = evaluation.state === "unreachable";
    const message =
      isUnreachable && failingParent
        ? `Unreachable through “${failingParent.name}”.`
        : entry.message;
    const changes = { from: transition.from, evaluation, message, publicMessage };
    // Updated here, since one transaction writes results of many monitors.
    if (row)
      ctx.outbox.group(tx, () => (isPlain ? writeState : applyTransition)(ctx, tx, row, changes));
  } else if (evaluation !== before) {
    saveEvaluation(tx, { ...evaluation, monitorNum: monitor.num });
  }
  if (check && entry.certificate && !isPlain) {
    warnOfExpiry(ctx, tx, monitor.id, entry.certificate, check.at);
  }
  return { entry, evaluation, check };
}

/**
 * Writes a result. A result that is older than the previous one, since the clock was set back, is
 * dated right after it; during an outage it is dated by the elapsed time, so that outages keep
 * their length.
 */
function keepResult(tx: Tx, entry: Entry, monitor: Evaluated): CheckRow {
  const { num: monitorNum } = monitor;
  const { state } = monitor.evaluation;
  const isOut = state === "down" || state === "unreachable";
  const elapsedMs = isOut ? Math.floor(entry.elapsedMs ?? 0) : 0;
  const earliest = (monitor.lastAt ?? -1) + Math.max(1, elapsedMs);
  const at = Math.max(Math.round(entry.at), earliest);
  monitor.lastAt = at;
  const latencyMs = entry.latencyMs === null ? null : Math.round(entry.latencyMs);
  const check = { monitorNum, at, outcome: entry.outcome, latencyMs, message: entry.message };
  insertCheck(tx, check);
  if (entry.kind === "heartbeat") saveHeartbeat(tx, { monitorNum, at });
  const expiresAt = entry.certificate?.expiresAt;
  if (expiresAt !== undefined && expiresAt !== monitor.certificateExpiresAt) {
    monitor.certificateExpiresAt = expiresAt;
    saveCertificate(tx, { monitorNum, expiresAt });
  }
  return check;
}
