import { Problem, unavailable } from "../../../base/errors";
import type { CheckOutcome } from "../../../base/status";
import type { Ctx } from "../../../context";
import type { Tx } from "../../../db/statements";
import { type CheckRow, insertCheck } from "../checks-store";
import { saveLiveness } from "../spans-store";
import { findFailingParent } from "../dependency-store";
import {
  type EvaluationInput,
  listEvaluationInputs,
  listMonitorsInMaintenance,
} from "../evaluation-store";
import { closing, type ProbeResult, type SeenCertificate } from "../monitoring";
import { countHeldFailures, evaluateCheck, type Evaluation } from "../rules";
import { saveHeartbeat } from "../job-store";
import { findMonitor, listDueReminders, saveCertificate, saveEvaluation } from "../store";
import { recordSignal, type SignalEntry } from "./job";
import {
  type Dependencies,
  evaluationOf,
  type MonitorRegistry,
  type ScheduledMonitor,
} from "./registry";
import type { CheckScheduler } from "./scheduler";
import { type Liveness, SERVER_OFFLINE } from "./stalls";
import { applyTransition, recordReminder, warnOfExpiry, writeState } from "./transitions";

/*
 * The way of a result into the database: `ResultProcessor` evaluates it in memory and makes an entry of it, `Recorder`
 * gathers the entries, and `recordEntries` writes them with their consequences in one transaction.
 */

/** Result of a held check. */
export const HELD: ProbeResult = {
  outcome: "unknown",
  latencyMs: null,
  message: "This server may have lost its network.",
};

/** Failure that an earlier process held, and did not store. */
const HELD_BEFORE: Pick<ProbeResult, "message" | "publicMessage"> = {
  message: "The checks failed without an answer.",
};

/** Minimum time between searches for reminders that are due. */
const REMINDER_SEARCH_MS = 10_000;

/** Waiting caller, which receives the stored result, or undefined if nothing was stored. */
export type Waiter = PromiseWithResolvers<CheckRow | undefined>;

/** Start of a check, or arrival of a heartbeat. */
export interface Begin {
  /** Unix ms. */
  at: number;
  /** Time on the monotonic clock, in ms. */
  startedAt: number;
  /** True if the monitor was in maintenance. */
  isInMaintenance: boolean;
}

/**
 * Passes results to the recorder. Each is evaluated here to schedule the next check, and again in
 * the transaction that writes it, which is authoritative.
 */
export class ResultProcessor {
  readonly recorder: Recorder;
  readonly #ctx: Ctx;
  readonly #dependencies: Dependencies;
  readonly #scheduler: CheckScheduler;
  #inMaintenance: ReadonlySet<number> = new Set();
  #isMaintenanceStale = true;
  /** Time of the next search for reminders, on the monotonic clock. */
  #remindAt = Number.NEGATIVE_INFINITY;

  constructor(ctx: Ctx, dependencies: Dependencies, liveness: Liveness, scheduler: CheckScheduler) {
    this.#ctx = ctx;
    this.#dependencies = dependencies;
    this.#scheduler = scheduler;
    this.recorder = new Recorder(ctx, liveness, scheduler);
  }

  /** Called after a page changed, since a component may have entered or left maintenance. */
  maintenanceMayHaveChanged(): void {
    this.#isMaintenanceStale = true;
  }

  /** Returns the start of a check that begins now. */
  begin(scheduled: ScheduledMonitor): Begin {
    const { clock } = this.#ctx;
    const isInMaintenance = this.#inMaintenance.has(scheduled.num);
    return { at: clock.now(), startedAt: clock.monotonic(), isInMaintenance };
  }

  /** Returns the arrival of a heartbeat at a time that may have passed, after the last one and the last check. */
  beginAt(scheduled: ScheduledMonitor, arrivedAt: number): Begin {
    const begin = this.begin(scheduled);
    const { heartbeatAt, lastStartedAt = Number.NEGATIVE_INFINITY } = scheduled;
    const at = Math.min(begin.at, Math.max(arrivedAt, heartbeatAt ?? 0));
    const startedAt = Math.max(begin.startedAt - (begin.at - at), lastStartedAt);
    return { ...begin, at, startedAt: Math.min(startedAt, begin.startedAt) };
  }

  /** Returns true if a result would change the state of its monitor to `down`, `degraded` or `up`, which send events. */
  wouldChange(
    scheduled: ScheduledMonitor,
    { at, isInMaintenance }: Begin,
    { outcome, latencyMs, isDegraded }: ProbeResult,
  ): boolean {
    const { evaluation, thresholds, num } = scheduled;
    const isIgnored = isInMaintenance || this.#inMaintenance.has(num);
    const observation = { at, outcome, latencyMs, isDegraded };
    const to = evaluateCheck(evaluation, observation, thresholds, isIgnored).transition?.to;
    return to === "down" || to === "degraded" || to === "up";
  }

  /**
   * Counts the failures of a monitor that were held, if they bring it down. One that may be only unreachable instead
   * is checked at once.
   */
  countHeld(scheduled: ScheduledMonitor): void {
    const { evaluation, thresholds, parents, heldFailure = HELD_BEFORE } = scheduled;
    const result = countHeldFailures(evaluation, thresholds);
    if (result.evaluation === evaluation) return;
    if (parents.length > 0) {
      this.#scheduler.after(scheduled, 0);
      return;
    }
    scheduled.evaluation = result.evaluation;
    const { message, publicMessage } = heldFailure;
    const at = this.#ctx.clock.now();
    const failure = { outcome: "failed", latencyMs: null, message, publicMessage } as const;
    this.recorder.add({ kind: "held", scheduled, at, ...failure }, true);
  }

  /** Passes on a result. Returns true if the next check should come sooner. */
  take(
    kind: "check" | "heartbeat",
    scheduled: ScheduledMonitor,
    { at, startedAt, isInMaintenance: hasBegunInMaintenance }: Begin,
    result: ProbeResult,
    waiters: Waiter[] | undefined,
    signal?: SignalEntry,
  ): boolean {
    const { outcome, latencyMs, message, publicMessage, certificate, isDegraded, since } = result;
    const isHeld = result === HELD && !scheduled.isInverted;
    const elapsedMs = startedAt - (scheduled.lastStartedAt ?? startedAt);
    scheduled.lastStartedAt = startedAt;
    scheduled.lastOutcome = outcome;
    scheduled.lastMessage = message;
    const entry: Entry = {
      kind,
      scheduled,
      at,
      elapsedMs,
      hasBegunInMaintenance,
      outcome,
      latencyMs,
      message,
      publicMessage,
      certificate,
      signal,
      waiters,
      isDegraded,
      since,
      ...(isHeld && { isHeld }),
    };
    const isInMaintenance = this.#inMaintenance.has(scheduled.num);
    const isIgnored = isInMaintenance || hasBegunInMaintenance;
    const canBeUnreachable =
      kind === "check" && outcome === "failed" && scheduled.parents.length > 0;
    let failingParent: string | undefined;
    if (canBeUnreachable) {
      failingParent = this.#dependencies.failingParentOf(scheduled);
      entry.uncountedParents = this.#dependencies.uncountedParentsOf(scheduled);
    }
    const { isChange, needsRecheck } = evaluateEntry(entry, isIgnored, failingParent);
    this.recorder.add(entry, isChange || waiters !== undefined);
    this.recorder.wake();
    return needsRecheck || (isIgnored && !isInMaintenance);
  }

  /** Passes on a signal of a job that says nothing about the outcome of a run. */
  notice(scheduled: ScheduledMonitor, at: number, signal: SignalEntry, waiter: Waiter): void {
    const nothing = { outcome: "ok", latencyMs: null, message: null } as const;
    const waiters = [waiter];
    this.recorder.add({ kind: "signal", scheduled, at, ...nothing, signal, waiters }, true);
    this.recorder.wake();
  }

  /** Passes on that this server was offline: no data since `since` (unix ms). */
  takeOffline(scheduled: ScheduledMonitor, since: number): void {
    const nothing = { outcome: "unknown", latencyMs: null } as const;
    const entry: Entry = {
      kind: "away",
      scheduled,
      at: since,
      ...nothing,
      message: SERVER_OFFLINE,
    };
    evaluateEntry(entry, false);
    this.recorder.add(entry, false);
  }

  /** Passes on the reminders that are due. Searches for them every 10 seconds at most. */
  remind(registry: MonitorRegistry): void {
    const { clock, db } = this.#ctx;
    if (clock.monotonic() < this.#remindAt) return;
    this.#remindAt = clock.monotonic() + REMINDER_SEARCH_MS;
    const at = clock.now();
    const due = listDueReminders(db, { now: at }).map(({ num }) => num);
    for (const scheduled of runningOf(registry, due)) {
      // Entries that wait may end the outage, or hold the reminder already.
      if (scheduled.waiting > 0) continue;
      const nothing = { outcome: "failed", latencyMs: null, message: null } as const;
      this.recorder.add({ kind: "reminder", scheduled, at, ...nothing }, true);
    }
  }

  /**
   * Finds the monitors in maintenance, if that may have changed, and records those that entered it.
   * Returns those that left it.
   */
  refreshMaintenance(registry: MonitorRegistry): ScheduledMonitor[] {
    if (!this.#isMaintenanceStale) return [];
    const inMaintenance = new Set(
      listMonitorsInMaintenance(this.#ctx.db, {}).map(({ num }) => num),
    );
    const before = this.#inMaintenance;
    this.#inMaintenance = inMaintenance;
    this.#isMaintenanceStale = false;
    const at = this.#ctx.clock.now();
    for (const scheduled of runningOf(registry, inMaintenance.difference(before))) {
      const nothing = { outcome: "ok", latencyMs: null, message: null } as const;
      this.recorder.add({ kind: "maintenance", scheduled, at, ...nothing }, true);
    }
    return runningOf(registry, before.difference(inMaintenance));
  }
}

/** Evaluates an entry after those that wait to be written. */
function evaluateEntry(
  entry: Entry,
  isInMaintenance: boolean,
  failingParent?: string,
): { isChange: boolean; needsRecheck: boolean } {
  const { scheduled } = entry;
  const { evaluation, thresholds } = scheduled;
  const result = evaluateCheck(evaluation, entry, thresholds, isInMaintenance, failingParent);
  scheduled.evaluation = result.evaluation;
  return { isChange: result.transition !== undefined, needsRecheck: result.needsRecheck };
}

function runningOf(registry: MonitorRegistry, nums: Iterable<number>): ScheduledMonitor[] {
  const monitors = Array.from(nums, (num) => registry.ofNum(num));
  return monitors.filter(
    (scheduled) => scheduled !== undefined && !scheduled.isPaused,
  ) as ScheduledMonitor[];
}

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
  /** True for a success that only degrades the monitor. */
  isDegraded?: boolean | undefined;
  /** Time since which it holds what was observed, in unix ms; absent if that is unknown. */
  since?: number | undefined;
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
interface Recorded {
  entry: Entry;
  /**
   * Evaluation after the entry; undefined if the monitor is paused or deleted and nothing was
   * written.
   */
  evaluation: Evaluation | undefined;
  check: CheckRow | undefined;
}

/** Time for which results are gathered for one transaction. */
const GATHER_MS = 1_000;
/** Interval of recording that the server is awake. */
const LIVENESS_MS = 15_000;
/** Maximum number of entries per transaction, to keep it short. Those with consequences have a lower limit. */
const BATCH = 500;
const WAITING_MAX = 100_000;
const RETRY_MS = { first: 1_000, max: 15_000 };

/** Kinds of entries of which the oldest are dropped if too many wait. */
const DROPPED_FIRST: ReadonlySet<Entry["kind"]> = new Set(["check", "heartbeat", "signal"]);

/**
 * Writes entries: gathered in one transaction a second, or at once if urgent. Failed writes are
 * repeated in order; of more than 100,000 waiting results the oldest are dropped. Each batch
 * records that the server is awake.
 */
class Recorder {
  readonly #ctx: Ctx;
  readonly #liveness: Liveness;
  readonly #scheduler: CheckScheduler;
  #queue: Entry[] = [];
  #writing: readonly Entry[] = [];
  /** Write that is running. */
  #running: Promise<void> | undefined;
  /** True if an entry must not wait until others are gathered. */
  #isUrgent = false;
  #gatherUntil = Number.POSITIVE_INFINITY;
  #livenessAt = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #retryAt = Number.NEGATIVE_INFINITY;
  /** Number of entries to write one by one, because one of them cannot be written. */
  #oneByOne = 0;
  /** True if the next entry is written without events and incidents, since writing it with them failed. */
  #isPlain = false;
  #dropped = 0;
  /** True if the next start must know that the server was awake. */
  isWatching = false;

  constructor(ctx: Ctx, liveness: Liveness, scheduler: CheckScheduler) {
    this.#ctx = ctx;
    this.#liveness = liveness;
    this.#scheduler = scheduler;
  }

  get waiting(): number {
    return this.#queue.length + this.#writing.length;
  }

  /** Number of dropped results. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Time of the oldest result that is not written yet, in unix ms. */
  get oldestAt(): number | undefined {
    let oldest: number | undefined;
    for (const { kind, at } of [...this.#writing, ...this.#queue]) {
      const isOlder = oldest === undefined || at < oldest;
      if (isOlder && (kind === "check" || kind === "heartbeat")) oldest = at;
    }
    return oldest;
  }

  /** Time to call `write`, on the monotonic clock. */
  get dueAt(): number {
    const livenessDue = this.isWatching ? this.#livenessAt + LIVENESS_MS : this.#gatherUntil;
    const due = this.#isUrgent ? this.#retryAt : Math.min(this.#gatherUntil, livenessDue);
    return this.#running ? Number.POSITIVE_INFINITY : Math.max(due, this.#retryAt);
  }

  /** Has the engine wake when `write` is due. */
  wake(): void {
    this.#scheduler.wakeAt(this.dueAt);
  }

  /** Adds an entry. Callers wake the engine, unless it is about to look at `dueAt` anyway. */
  add(entry: Entry, isUrgent: boolean): void {
    if (this.waiting >= WAITING_MAX) this.#dropOldest();
    this.#queue.push(entry);
    entry.scheduled.waiting += 1;
    const gatheredAt = this.#ctx.clock.monotonic() + GATHER_MS;
    this.#gatherUntil = Math.min(this.#gatherUntil, gatheredAt);
    if (!isUrgent && this.#queue.length < BATCH) return;
    this.#isUrgent = true;
    this.write();
  }

  /** Writes waiting entries, unless a write is running or paused after a failure. */
  write(): void {
    if (this.#running || this.#ctx.clock.monotonic() < this.#retryAt) return;
    this.#running = this.#writeAll().finally(() => {
      this.#running = undefined;
      if (this.#isUrgent) this.write();
      this.wake();
    });
  }

  /** Writes all waiting entries once, and that the server was awake until now. */
  async close(): Promise<void> {
    await this.#running;
    this.#retryAt = Number.NEGATIVE_INFINITY;
    if (this.isWatching || this.#queue.length > 0) this.write();
    await this.#running;
    for (const entry of this.#queue.splice(0)) this.#finish(entry, closing());
  }

  /** Writes batches until nothing is urgent or a write fails. */
  async #writeAll(): Promise<void> {
    do {
      this.#isUrgent = false;
      this.#gatherUntil = Number.POSITIVE_INFINITY;
      this.#writing = this.#queue.splice(0, this.#oneByOne > 0 ? 1 : BATCH);
      const isStored = await this.#writeBatch(this.#writing);
      this.#writing = [];
      if (!isStored) {
        this.#gatherUntil = this.#ctx.clock.monotonic();
        return;
      }
      // Entries that arrived meanwhile are gathered for a second.
      if (this.#queue.length > 0) this.#gatherUntil = this.#ctx.clock.monotonic() + GATHER_MS;
    } while (this.#queue.length > 0 && (this.#isUrgent || this.#isBehind));
  }

  get #isBehind(): boolean {
    return this.#oneByOne > 0 || this.#queue.length >= BATCH;
  }

  /** Writes a batch. Returns true to continue with the next one. */
  async #writeBatch(batch: readonly Entry[]): Promise<boolean> {
    const { ctx, isPlain } = { ctx: this.#ctx, isPlain: this.#isPlain };
    let recorded: Recorded[];
    try {
      recorded = await ctx.db.write((tx) => {
        saveLiveness(tx, { at: this.#liveness.seenAt });
        return recordEntries(ctx, tx, batch, isPlain);
      });
    } catch (error) {
      return this.#handleFailure(batch, error);
    }
    this.#livenessAt = ctx.clock.monotonic();
    this.#failures = 0;
    this.#isPlain = false;
    this.#oneByOne = Math.max(0, this.#oneByOne - 1);
    // Written next, as soon as other requests have run.
    const rest = batch.slice(recorded.length);
    this.#queue.unshift(...rest);
    if (rest.length > 0) this.#isUrgent = true;
    for (const each of recorded) {
      this.#finish(each.entry, each.check);
      adoptEvaluation(each);
    }
    return true;
  }

  #handleFailure(batch: readonly Entry[], error: unknown): boolean {
    const [first] = batch;
    const isForNow = error instanceof Problem && error.code === "unavailable";
    if (isForNow || first === undefined) {
      this.#queue = [...batch, ...this.#queue];
      // Waiting callers get the error now; the results are written later.
      for (const entry of batch) this.#answerWaiters(entry, error);
      const delayMs = Math.min(RETRY_MS.first * 2 ** this.#failures, RETRY_MS.max);
      this.#failures += 1;
      this.#retryAt = this.#ctx.clock.monotonic() + delayMs;
      return false;
    }
    // One of the entries cannot be written. It must not block the others.
    this.#ctx.log.error({ err: error, results: batch.length }, "a result could not be written");
    if (batch.length === 1 && this.#isPlain) {
      this.#isPlain = false;
      this.#oneByOne = Math.max(0, this.#oneByOne - 1);
      this.#dropped += 1;
      this.#finish(first, error as Error);
      return true;
    }
    this.#isPlain = batch.length === 1;
    this.#oneByOne = Math.max(this.#oneByOne, batch.length);
    this.#queue = [...batch, ...this.#queue];
    return true;
  }

  #dropOldest(): void {
    const oldest = this.#queue.findIndex(({ kind }) => DROPPED_FIRST.has(kind));
    const [entry] = oldest < 0 ? [] : this.#queue.splice(oldest, 1);
    if (!entry) return;
    this.#dropped += 1;
    this.#finish(entry, unavailable("The result could not be stored.", 5));
  }

  #finish(entry: Entry, outcome: CheckRow | undefined | Error): void {
    entry.scheduled.waiting -= 1;
    this.#answerWaiters(entry, outcome);
  }

  #answerWaiters(entry: Entry, outcome: unknown): void {
    for (const { resolve, reject } of entry.waiters ?? []) {
      if (outcome instanceof Error) reject(outcome);
      else resolve(outcome as CheckRow | undefined);
    }
    entry.waiters = undefined;
  }
}

/** Adopts the evaluation in the database, unless further results are waiting to be written. */
function adoptEvaluation({ entry: { scheduled }, evaluation }: Recorded): void {
  if (evaluation && scheduled.waiting === 0) scheduled.evaluation = evaluation;
}

/** Inputs of the evaluation of a monitor's results, and its evaluation after those that were written. */
type Evaluated = Omit<EvaluationInput, keyof Evaluation> & { evaluation: Evaluation };

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
    isDegraded: entry.isDegraded,
    since: entry.since,
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
  if (entry.kind === "heartbeat") saveHeartbeat(tx, { monitorNum, heartbeatAt: at });
  const expiresAt = entry.certificate?.expiresAt;
  if (expiresAt !== undefined && expiresAt !== monitor.certificateExpiresAt) {
    monitor.certificateExpiresAt = expiresAt;
    saveCertificate(tx, { monitorNum, certificateExpiresAt: expiresAt });
  }
  return check;
}
