import { Problem, unavailable } from "../../../base/errors";
import { LOCAL } from "../../../base/status";
import type { Ctx } from "../../../context";
import type { Tx } from "../../../db/statements";
import type { CheckRow } from "../checks-store";
import { saveLiveness } from "../spans-store";
import { listMonitorsInMaintenance } from "../evaluation-store";
import { closing, type ProbeResult } from "../monitoring";
import { evaluateQuorum } from "../quorum";
import { countHeldFailures, evaluateCheck, newEvaluation } from "../rules";
import { listDueReminders } from "../store";
import type { Entry, Waiter } from "./entry";
import type { SignalEntry } from "./job";
import { type Recorded, recordEntries } from "./record";
import type {
  Dependencies,
  MonitorRegistry,
  ScheduledMonitor,
  MultiLocationInMemory,
} from "./registry";
import type { CheckScheduler } from "./scheduler";
import { type Liveness, SERVER_OFFLINE } from "./stalls";
import { agreementAt, type LocationContext } from "./multi-location";

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

/** Start of a check, or arrival of a heartbeat. */
export interface Begin {
  /** Unix ms. */
  at: number;
  /** Time on the monotonic clock, in ms. */
  startedAt: number;
  /** True if the monitor was in maintenance. */
  isInMaintenance: boolean;
}

interface RecorderDependencies {
  ctx: Ctx;
  liveness: Liveness;
  scheduler: CheckScheduler;
  locationContext: LocationContext;
  /** Saves what is new of the locations, in a transaction that is written anyway. */
  saveContacts(tx: Tx): void;
  /** Stores entries elsewhere than in the database. */
  store?: ((entries: readonly Entry[]) => Promise<void>) | undefined;
}

interface ProcessorDependencies extends RecorderDependencies {
  dependencies: Dependencies;
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
  readonly locationContext: LocationContext;
  /** Ends of the last maintenance of monitors with several locations, in unix ms, by their numbers. */
  readonly #maintainedUntil = new Map<number, number>();

  constructor({
    ctx,
    dependencies,
    scheduler,
    locationContext,
    ...recording
  }: ProcessorDependencies) {
    this.#ctx = ctx;
    this.#dependencies = dependencies;
    this.#scheduler = scheduler;
    this.locationContext = locationContext;
    this.recorder = new Recorder({ ctx, scheduler, locationContext, ...recording });
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
      startedAt,
      version: scheduled.version,
      via: result.via,
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
      entry.hasAskedParents = true;
    }
    const { isChange, needsRecheck } = this.#evaluate(entry, isIgnored, failingParent);
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
    this.#evaluate(entry, false);
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
    const ended = runningOf(registry, before.difference(inMaintenance));
    for (const { num, multiLocation } of ended)
      if (multiLocation) this.#maintainedUntil.set(num, at);
    return ended;
  }

  /** Returns true if a monitor was in maintenance at a time (unix ms) of its last maintenance, or is. */
  wasInMaintenance({ num }: ScheduledMonitor, at: number): boolean {
    return this.#inMaintenance.has(num) || at < (this.#maintainedUntil.get(num) ?? 0);
  }

  /**
   * Evaluates the quorum of a monitor again, after one of its locations came or went, or after its parents were checked.
   * `cause` is the result that made the check of parents necessary.
   */
  addQuorumEntry(scheduled: ScheduledMonitor, cause?: Entry): void {
    const nothing = { outcome: "ok", latencyMs: null, message: null } as const;
    const entry: Entry = {
      ...nothing,
      ...(cause && { outcome: cause.outcome, message: cause.message }),
      ...(cause?.publicMessage !== undefined && { publicMessage: cause.publicMessage }),
      kind: "quorum",
      scheduled,
      at: cause?.at ?? this.#ctx.clock.now(),
    };
    if (cause) {
      entry.hasAskedParents = true;
      entry.uncountedParents = this.#dependencies.uncountedParentsOf(scheduled);
    }
    this.recorder.add(entry, true);
  }

  /** Evaluates an entry after those that wait to be written. */
  #evaluate(
    entry: Entry,
    isInMaintenance: boolean,
    failingParent?: string,
  ): { isChange: boolean; needsRecheck: boolean } {
    const { scheduled } = entry;
    const { evaluation, thresholds, multiLocation } = scheduled;
    const isAlone = !multiLocation || evaluation.state === "unreachable";
    const parent = isAlone ? failingParent : undefined;
    const result = evaluateCheck(evaluation, entry, thresholds, isInMaintenance, parent);
    scheduled.evaluation = result.evaluation;
    const { needsRecheck, transition } = result;
    if (!multiLocation) return { isChange: transition !== undefined, needsRecheck };
    const isChange = this.#evaluateQuorum(entry, multiLocation, isInMaintenance, failingParent);
    return { isChange, needsRecheck };
  }

  /** Evaluates all locations of a monitor after an entry of this server. Returns true if its state changes. */
  #evaluateQuorum(
    { kind, scheduled, at, hasAskedParents = false }: Entry,
    multiLocation: MultiLocationInMemory,
    isInMaintenance: boolean,
    failingParent: string | undefined,
  ): boolean {
    const { evaluation: before, evaluations, notBefore } = multiLocation;
    if (evaluations.has(LOCAL)) evaluations.set(LOCAL, scheduled.evaluation);
    if (kind === "away") {
      multiLocation.evaluation = newEvaluation("no_data", Math.max(at, before.since));
      return before.state !== "no_data";
    }
    const agreement = agreementAt(multiLocation, evaluations, this.locationContext, before.state);
    const isFailing = agreement.failingSince !== undefined && before.state !== "down";
    // The parents are checked first.
    if (isFailing && scheduled.parents.length > 0 && !hasAskedParents) return false;
    multiLocation.evaluation = evaluateQuorum(before, agreement, {
      at,
      notBefore: Math.max(notBefore, this.locationContext.heardSince()),
      isInMaintenance,
      failingParent,
    });
    return multiLocation.evaluation.state !== before.state;
  }
}

function runningOf(registry: MonitorRegistry, nums: Iterable<number>): ScheduledMonitor[] {
  const monitors = Array.from(nums, (num) => registry.ofNum(num));
  return monitors.filter(
    (scheduled) => scheduled !== undefined && !scheduled.isPaused,
  ) as ScheduledMonitor[];
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
  readonly #deps: RecorderDependencies;
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
  /** Called for an entry that counts only after the parents of its monitor were checked. */
  onNeedsParents: (entry: Entry) => void = () => {};

  constructor(deps: RecorderDependencies) {
    this.#deps = deps;
    this.#ctx = deps.ctx;
    this.#liveness = deps.liveness;
    this.#scheduler = deps.scheduler;
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
      recorded = this.#deps.store
        ? await this.#storeElsewhere(batch, this.#deps.store)
        : await ctx.db.write((tx) => {
            saveLiveness(tx, { at: this.#liveness.seenAt });
            this.#deps.saveContacts(tx);
            return recordEntries(ctx, tx, batch, isPlain, this.#deps.locationContext);
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
      if (each.needsParents) this.onNeedsParents(each.entry);
    }
    return true;
  }

  /** Stores a batch elsewhere. Evaluations stay those of this process. */
  async #storeElsewhere(
    batch: readonly Entry[],
    store: (entries: readonly Entry[]) => Promise<void>,
  ): Promise<Recorded[]> {
    if (batch.length > 0) await store(batch);
    return batch.map((entry) => {
      const { scheduled, at, outcome, latencyMs, message } = entry;
      const check = { monitorNum: scheduled.num, at, outcome, latencyMs, message };
      return { entry, evaluation: undefined, check };
    });
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
export function adoptEvaluation({ entry: { scheduled }, evaluation, atLocations }: Recorded): void {
  if (!evaluation) return;
  const { multiLocation, waiting } = scheduled;
  if (!multiLocation || !atLocations) {
    if (waiting === 0 && !multiLocation) scheduled.evaluation = evaluation;
    return;
  }
  for (const [id, each] of atLocations) {
    if (id !== LOCAL || waiting === 0) multiLocation.evaluations.set(id, each);
  }
  if (waiting > 0) return;
  scheduled.evaluation = atLocations.get(LOCAL) ?? scheduled.evaluation;
  multiLocation.evaluation = evaluation;
}
