import type { Ctx } from "../../../context";
import { LOCAL } from "../../../base/status";
import type { Tx } from "../../../db/statements";
import { type CheckRow, ofMonitors } from "../checks-store";
import { findFailingParent } from "../dependency-store";
import { type EvaluationInput, listEvaluationInputs } from "../evaluation-store";
import { saveHeartbeat } from "../job-store";
import { type Evaluation, evaluationOf } from "../rules";
import { findMonitor, saveCertificate, saveEvaluation } from "../store";
import { recordSignal } from "./job";
import type { MultiLocationInMemory } from "./registry";
import type { Entry } from "./entry";
import {
  type EvaluatedEntry,
  evaluateEntry,
  keepAgentResult,
  keepResult,
  readMultiLocations,
  type RecordedLocations,
  evaluateMultiLocation,
  type LocationContext,
  type MultiLocation,
  type Written,
} from "./multi-location";
import { applyTransition, recordReminder, warnOfExpiry, writeState } from "./transitions";

/** Outcome of writing an entry. */
export interface Recorded extends RecordedLocations {
  entry: Entry;
  /**
   * Evaluation after the entry; undefined if the monitor is paused or deleted and nothing was
   * written.
   */
  evaluation: Evaluation | undefined;
  check: CheckRow | undefined;
}

/**
 * Inputs of the evaluation of a monitor's results, and its evaluation after those that were written. `multiLocation` is
 * undefined if only this server checks it.
 */
type Evaluated = Omit<EvaluationInput, keyof Evaluation> & {
  evaluation: Evaluation;
  multiLocation: MultiLocation | undefined;
};

/**
 * Maximum number of entries with consequences that one transaction writes: changes of states and reminders, of about
 * 0.5 ms each. Other requests run between the transactions.
 */
const CONSEQUENCES_MAX = 50;

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
  locationContext: LocationContext,
): Recorded[] {
  if (entries.length === 0) return [];
  const nums = JSON.stringify([...new Set(entries.map(({ scheduled }) => scheduled.num))]);
  const inMemory = new Map<number, MultiLocationInMemory>();
  const locationIds = new Set<string>();
  for (const { scheduled, location = LOCAL } of entries) {
    if (!scheduled.multiLocation) continue;
    inMemory.set(scheduled.num, scheduled.multiLocation);
    locationIds.add(location);
  }
  const multiLocation =
    inMemory.size > 0 ? readMultiLocations(tx, inMemory, locationIds) : undefined;
  const evaluated = new Map<number, Evaluated>();
  for (const row of listEvaluationInputs(tx, { nums })) {
    const evaluation = evaluationOf(row);
    evaluated.set(row.num, { ...row, evaluation, multiLocation: multiLocation?.get(row.num) });
  }
  const recorded: Recorded[] = [];
  let consequences = 0;
  for (const entry of entries) {
    if (consequences === CONSEQUENCES_MAX) break;
    const monitor = evaluated.get(entry.scheduled.num);
    const state = monitor?.evaluation.state;
    recorded.push(recordOne(ctx, tx, entry, monitor, isPlain, locationContext));
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
  locationContext: LocationContext,
): Recorded {
  if (!monitor || monitor.paused) return { entry, evaluation: undefined, check: undefined };
  if (entry.signal) recordSignal(tx, monitor.num, entry.at, entry.signal);
  if (entry.kind === "signal") return { entry, evaluation: monitor.evaluation, check: undefined };
  if (entry.kind === "reminder") {
    if (!isPlain) ctx.outbox.group(tx, () => recordReminder(ctx, tx, monitor, entry.at));
    return { entry, evaluation: monitor.evaluation, check: undefined };
  }
  const { multiLocation } = monitor;
  const locationRecord =
    entry.location === undefined ? undefined : multiLocation?.records.get(entry.location);
  // The monitor has left the location.
  if (entry.location !== undefined && !locationRecord) {
    return { entry, evaluation: undefined, check: undefined };
  }
  const isResult = entry.kind === "check" || entry.kind === "heartbeat";
  const check = !isResult
    ? undefined
    : locationRecord
      ? keepAgentResult(tx, entry, locationRecord)
      : keepOwnResult(tx, entry, monitor);
  if (check) keepCertificate(tx, entry, monitor);
  const isInMaintenance = monitor.isInMaintenance === 1;
  if (entry.kind === "maintenance" && !isInMaintenance) {
    return { entry, evaluation: monitor.evaluation, check };
  }
  // Without a result as well, the clock may have been set back since the last one.
  const at =
    check?.at ??
    Math.max(entry.at, ((locationRecord ? locationRecord.row.lastAt : monitor.lastAt) ?? -1) + 1);
  const before = monitor.evaluation;
  const { id, num } = monitor;
  const written = { id, num, evaluation: before, thresholds: monitor, at, isInMaintenance };
  const outcome: EvaluatedEntry = multiLocation
    ? evaluateMultiLocation(tx, entry, multiLocation, written, locationContext)
    : evaluateAlone(tx, entry, written);
  saveOutcome(ctx, tx, monitor, outcome, isPlain);
  if (check && entry.certificate && !isPlain) {
    warnOfExpiry(ctx, tx, monitor.id, entry.certificate, check.at);
  }
  const { evaluation, atLocations, needsParents } = outcome;
  return { entry, evaluation, check, atLocations, needsParents };
}

/** Saves the evaluation after an entry, with the consequences of a new state. */
function saveOutcome(
  ctx: Ctx,
  tx: Tx,
  monitor: Evaluated,
  { evaluation, message, publicMessage }: EvaluatedEntry,
  isPlain: boolean,
): void {
  const before = monitor.evaluation;
  monitor.evaluation = evaluation;
  if (evaluation.state === before.state) {
    if (evaluation !== before) saveEvaluation(tx, { ...evaluation, monitorNum: monitor.num });
    return;
  }
  const row = findMonitor(tx, { id: monitor.id });
  if (!row) return;
  const changes = { from: before.state, evaluation, message, publicMessage };
  // A message is about one monitor, while a transaction writes results of many.
  ctx.outbox.group(tx, () => (isPlain ? writeState : applyTransition)(ctx, tx, row, changes));
}

/** Evaluates an entry of a monitor that only this server checks. */
function evaluateAlone(tx: Tx, entry: Entry, monitor: Written): EvaluatedEntry {
  const { id: monitorId, evaluation: before } = monitor;
  const { outcome, message, publicMessage } = entry;
  // A job that calls has reached this server, so the failure that it reports is its own.
  const hasFailed = entry.kind === "check" && outcome === "failed";
  const failingParent =
    hasFailed && entry.scheduled.parents.length > 0
      ? findFailingParent(tx, { monitorId, failed: JSON.stringify(entry.uncountedParents ?? []) })
      : undefined;
  const evaluation = evaluateEntry(before, entry, monitor, failingParent?.id);
  const isUnreachable = evaluation.state === "unreachable" && failingParent;
  const text = isUnreachable ? `Unreachable through “${failingParent.name}”.` : message;
  return { evaluation, message: text, publicMessage };
}

/**
 * Writes a result of this server. A result that is older than the previous one, since the clock was set back, is
 * dated right after it; during an outage it is dated by the elapsed time, so that outages keep
 * their length.
 */
function keepOwnResult(tx: Tx, entry: Entry, monitor: Evaluated): CheckRow {
  const { num: monitorNum } = monitor;
  const { state } = monitor.evaluation;
  const isOut = state === "down" || state === "unreachable";
  const elapsedMs = isOut ? Math.floor(entry.elapsedMs ?? 0) : 0;
  const earliest = (monitor.lastAt ?? -1) + Math.max(1, elapsedMs);
  const check = keepResult(tx, ofMonitors, monitorNum, entry, earliest);
  monitor.lastAt = check.at;
  if (entry.kind === "heartbeat") saveHeartbeat(tx, { monitorNum, heartbeatAt: check.at });
  return check;
}

/** Saves the expiry of the certificate that a check saw, from wherever it was made. */
function keepCertificate(tx: Tx, { certificate }: Entry, monitor: Evaluated): void {
  const expiresAt = certificate?.expiresAt;
  if (expiresAt === undefined || expiresAt === monitor.certificateExpiresAt) return;
  monitor.certificateExpiresAt = expiresAt;
  saveCertificate(tx, { monitorNum: monitor.num, certificateExpiresAt: expiresAt });
}
