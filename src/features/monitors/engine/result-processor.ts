import type { Ctx } from "../../../context";
import { countHeldFailures, evaluateCheck } from "../rules";
import { listMonitorsInMaintenance } from "../evaluation-store";
import { listDueReminders } from "../store";
import type { ProbeResult } from "../monitoring";
import type { CheckRow } from "../checks-store";
import type { Dependencies, MonitorRegistry, ScheduledMonitor } from "./registry";
import { CheckFigures } from "./figures";
import { type Liveness, SERVER_OFFLINE } from "./stalls";
import { HELD } from "./network";
import { type Entry, type Recorded, Recorder } from "./recorder";
import type { SignalEntry } from "./signals";

/** Failure that an earlier process held, and did not store. */
const HELD_BEFORE: Pick<ProbeResult, "message" | "publicMessage"> = {
  message: "The checks failed without an answer.",
};

/** Minimum time between searches for reminders that are due. */
const REMINDER_SEARCH_MS = 10_000;

/** Waiting caller, which receives the stored result, or undefined if nothing was stored. */
export type Waiter = PromiseWithResolvers<CheckRow | undefined>;

/** Callers that wait for the next result of a monitor. */
export class Waiters {
  readonly #byMonitor = new Map<ScheduledMonitor, Waiter[]>();

  add(scheduled: ScheduledMonitor): Waiter {
    const waiter: Waiter = Promise.withResolvers();
    this.#byMonitor.set(scheduled, [...(this.#byMonitor.get(scheduled) ?? []), waiter]);
    return waiter;
  }

  /** Removes and returns the callers that wait for a monitor; undefined if there are none. */
  take(scheduled: ScheduledMonitor): Waiter[] | undefined {
    const waiters = this.#byMonitor.get(scheduled);
    this.#byMonitor.delete(scheduled);
    return waiters;
  }

  /** Resolves the callers that wait for a monitor with undefined. */
  release(scheduled: ScheduledMonitor): void {
    for (const waiter of this.take(scheduled) ?? []) waiter.resolve(undefined);
  }

  rejectAll(error: Error): void {
    for (const waiter of [...this.#byMonitor.values()].flat()) waiter.reject(error);
    this.#byMonitor.clear();
  }
}

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
  readonly figures = new CheckFigures();
  readonly #ctx: Ctx;
  readonly #dependencies: Dependencies;
  #inMaintenance: ReadonlySet<number> = new Set();
  #isMaintenanceStale = true;
  /** Time of the next search for reminders, on the monotonic clock. */
  #remindAt = Number.NEGATIVE_INFINITY;

  /** `onPaused` is called when the recorder waits: its `dueAt` says until when. */
  constructor(ctx: Ctx, dependencies: Dependencies, liveness: Liveness, onPaused: () => void) {
    this.#ctx = ctx;
    this.#dependencies = dependencies;
    this.recorder = new Recorder(ctx, liveness, {
      recorded: adoptEvaluation,
      paused: onPaused,
    });
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
    { outcome, latencyMs }: ProbeResult,
  ): boolean {
    const { evaluation, thresholds, num } = scheduled;
    const isIgnored = isInMaintenance || this.#inMaintenance.has(num);
    const observation = { at, outcome, latencyMs };
    const to = evaluateCheck(evaluation, observation, thresholds, isIgnored).transition?.to;
    return to === "down" || to === "degraded" || to === "up";
  }

  /**
   * Counts the failures of a monitor that were held, and would have brought it down. Returns false if it may be only
   * unreachable instead, so that it must be checked at once.
   */
  countHeld(scheduled: ScheduledMonitor): boolean {
    const { evaluation, thresholds, parents, heldFailure = HELD_BEFORE } = scheduled;
    const result = countHeldFailures(evaluation, thresholds);
    if (result.evaluation === evaluation) return true;
    if (parents.length > 0) return false;
    scheduled.evaluation = result.evaluation;
    const { message, publicMessage } = heldFailure;
    const at = this.#ctx.clock.now();
    const failure = { outcome: "failed", latencyMs: null, message, publicMessage } as const;
    this.recorder.add({ kind: "held", scheduled, at, ...failure }, true);
    return true;
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
    const { outcome, latencyMs, message, publicMessage, certificate } = result;
    this.figures.ended(scheduled.type, outcome);
    const isHeld = result === HELD && !scheduled.isInverted;
    const elapsedMs = startedAt - (scheduled.lastStartedAt ?? startedAt);
    scheduled.lastStartedAt = startedAt;
    scheduled.lastOutcome = outcome;
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
    return needsRecheck || (isIgnored && !isInMaintenance);
  }

  /** Passes on a signal of a job that says nothing about the outcome of a run. */
  notice(scheduled: ScheduledMonitor, at: number, signal: SignalEntry, waiter: Waiter): void {
    const nothing = { outcome: "ok", latencyMs: null, message: null } as const;
    const waiters = [waiter];
    this.recorder.add({ kind: "signal", scheduled, at, ...nothing, signal, waiters }, true);
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

/** Adopts the evaluation in the database, unless further results are waiting to be written. */
function adoptEvaluation({ entry: { scheduled }, evaluation }: Recorded): void {
  if (evaluation && scheduled.waiting === 0) scheduled.evaluation = evaluation;
}

function runningOf(registry: MonitorRegistry, nums: Iterable<number>): ScheduledMonitor[] {
  const monitors = Array.from(nums, (num) => registry.ofNum(num));
  return monitors.filter(
    (scheduled) => scheduled !== undefined && !scheduled.isPaused,
  ) as ScheduledMonitor[];
}
