import type { AppContext } from "../../../context";
import { conflict, notFound } from "../../../errors";
import type { MonitorType } from "../../../domain/monitor-state";
import { type CheckRow, findLiveness } from "../checks-store";
import type { Heartbeat, Monitoring } from "../monitoring";
import type { ProbeResult } from "../probe";
import type { MonitorConfig } from "../probes";
import { CheckScheduler, WakeTimer } from "./check-scheduler";
import type { MonitoringFigures } from "./figures";
import { type Begin, ResultProcessor, type Waiter, Waiters } from "./result-processor";
import { CheckQueue } from "./check-queue";
import { Liveness } from "./liveness";
import type { Prober } from "./prober";
import { closing } from "./recorder";
import { MonitorRegistry } from "./monitor-registry";
import { countedResult, heartbeatExpectedSince, type ScheduledMonitor } from "./scheduled-monitor";

/** Interval of checking if the server was offline. */
const LIVENESS_INTERVAL_MS = 15_000;
/** Checks due within this time start together: one that starts alone costs a fifth more. */
const COARSENESS_MS = 50;
/** Minimum interval between two reads of changed monitors. */
const REFRESH_MS = 250;

/** Runs the checks of all monitors when they are due and passes on their results. */
export class Engine implements Monitoring {
  readonly #ctx: AppContext;
  readonly #prober: Prober;
  readonly #results: ResultProcessor;
  readonly #liveness: Liveness;
  readonly #wakeTimer: WakeTimer;
  readonly #scheduler: CheckScheduler;
  readonly #registry = new MonitorRegistry();
  readonly #queue = new CheckQueue();
  readonly #waiters = new Waiters();
  readonly #unsubscribe: (() => void)[];
  #isRegistryStale = true;
  #isFailing = false;
  #refreshedAt = Number.NEGATIVE_INFINITY;
  /** Raised after the server was offline: checks that started before are discarded. */
  #epoch = 0;
  #state: "made" | "running" | "stopped" = "made";

  constructor(ctx: AppContext, prober: Prober) {
    this.#ctx = ctx;
    this.#prober = prober;
    this.#liveness = new Liveness(ctx.clock, findLiveness(ctx.db, {})?.at);
    this.#wakeTimer = new WakeTimer(ctx.clock, () => this.#tick());
    this.#scheduler = new CheckScheduler(ctx, this.#queue, this.#wakeTimer);
    this.#results = new ResultProcessor(ctx, this.#liveness, () => this.#wakeForRecorder());
    const markRegistryStale = () => {
      this.#isRegistryStale = true;
      this.#results.maintenanceMayHaveChanged();
      this.#wakeTimer.at(this.#refreshedAt + REFRESH_MS);
    };
    const onPageChanged = () => {
      this.#results.maintenanceMayHaveChanged();
      this.#wakeTimer.at(ctx.clock.monotonic());
    };
    const { monitorsChanged, databaseChangedElsewhere, pageChanged } = ctx.signals;
    this.#unsubscribe = [
      monitorsChanged.on(markRegistryStale),
      databaseChangedElsewhere.on(markRegistryStale),
      pageChanged.on(onPageChanged),
    ];
  }

  /** Starts the checks. First records the time in which the server was offline. */
  start(): void {
    this.#state = "running";
    this.#wakeTimer.on();
    // Monitors may have been read before the start by a requested check, when nothing could be
    // scheduled.
    for (const scheduled of this.#registry)
      if (!scheduled.isPaused) this.#scheduler.first(scheduled);
    this.#tick();
  }

  /** Aborts running checks without a result, and writes all results. */
  async stop(): Promise<void> {
    if (this.#state === "stopped") return;
    this.#state = "stopped";
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#wakeTimer.off();
    this.#prober.abort();
    this.#waiters.rejectAll(closing());
    this.#liveness.look();
    await this.#results.recorder.close();
  }

  figures(): MonitoringFigures {
    const { recorder, figures } = this.#results;
    return {
      monitors: this.#registry.size,
      underWay: this.#queue.underWay,
      waiting: recorder.waiting,
      dropped: recorder.dropped,
      ...figures.soFar(),
    };
  }

  /** Time of the oldest result that is not written yet, in unix ms. */
  oldestUnwritten(): number | undefined {
    return this.#results.recorder.oldestAt;
  }

  async checkNow(id: string): Promise<CheckRow> {
    if (this.#state === "stopped") throw closing();
    this.#refresh();
    const scheduled = this.#registry.find(id);
    if (!scheduled) throw notFound("monitor");
    if (scheduled.isPaused) throw conflict("The monitor is paused.");
    if (scheduled.type === "push")
      throw conflict("A push monitor cannot be checked, because its job sends heartbeats.");
    const waiter = this.#waiters.add(scheduled);
    if (!scheduled.isUnderWay) this.#begin(scheduled);
    const check = await waiter.promise;
    if (!check) throw conflict("The monitor was paused or deleted meanwhile.");
    return check;
  }

  async heartbeat(id: string, beat: Heartbeat): Promise<void> {
    if (this.#state === "stopped") throw closing();
    this.#refresh();
    const scheduled = this.#registry.find(id);
    if (!scheduled || scheduled.isPaused) return;
    const begin = this.#results.begin(scheduled);
    scheduled.heartbeatAt = begin.at;
    const waiter: Waiter = Promise.withResolvers();
    this.#results.take("heartbeat", scheduled, begin, countedResult(scheduled, beat), [waiter]);
    this.#wakeForRecorder();
    this.#scheduler.after(scheduled, scheduled.intervalMs + scheduled.graceMs);
    await waiter.promise;
  }

  nextCheckAt(id: string): number | undefined {
    const scheduled = this.#registry.find(id);
    if (!scheduled || scheduled.type === "push" || scheduled.heapIndex < 0) return undefined;
    return this.#ctx.clock.now() + scheduled.dueAt - this.#ctx.clock.monotonic();
  }

  tryOut(type: MonitorType, config: object, timeoutMs: number): Promise<ProbeResult> {
    return this.#prober.run(type, config as MonitorConfig, timeoutMs);
  }

  #tick(): void {
    try {
      this.#refresh();
      this.#checkLiveness();
      for (const scheduled of this.#results.refreshMaintenance(this.#registry)) {
        if (scheduled.type !== "push") this.#scheduler.after(scheduled, 0);
      }
      this.#isFailing = false;
    } catch (error) {
      // Logged once, since it may last for hours. The next tick reads again.
      if (!this.#isFailing) this.#ctx.log.error({ err: error }, "monitors could not be read");
      this.#isFailing = true;
    }
    this.#beginDue();
    const { recorder } = this.#results;
    const now = this.#ctx.clock.monotonic();
    if (recorder.dueAt <= now) recorder.write();
    const nextDue = this.#queue.peek()?.dueAt ?? Number.POSITIVE_INFINITY;
    const next = Math.min(nextDue, recorder.dueAt, now + LIVENESS_INTERVAL_MS);
    this.#wakeTimer.at(Math.max(next, now + COARSENESS_MS));
  }

  #wakeForRecorder(): void {
    this.#wakeTimer.at(this.#results.recorder.dueAt);
  }

  #beginDue(): void {
    const now = this.#ctx.clock.monotonic();
    for (;;) {
      const next = this.#queue.peek();
      if (!next || next.dueAt > now) return;
      this.#results.figures.began(now - next.dueAt);
      this.#begin(next);
    }
  }

  #begin(scheduled: ScheduledMonitor): void {
    this.#queue.begin(scheduled);
    void this.#check(scheduled);
  }

  async #check(scheduled: ScheduledMonitor): Promise<void> {
    const { version, heartbeatAt } = scheduled;
    const epoch = this.#epoch;
    const begin = this.#results.begin(scheduled);
    const { startedAt } = begin;
    const probed = await (scheduled.type === "push"
      ? this.#prober.missHeartbeat(heartbeatExpectedSince(scheduled, startedAt))
      : this.#prober.find(scheduled, startedAt));
    const found = countedResult(scheduled, probed);
    this.#queue.end(scheduled, this.#ctx.clock.monotonic() - startedAt);
    if (this.#state === "stopped") return;
    this.#checkLiveness();
    const isScheduled = this.#registry.ofNum(scheduled.num) === scheduled && !scheduled.isPaused;
    // A check that started before a change of its monitor, or before the server was offline, is
    // discarded.
    const isOutdated = version !== scheduled.version || epoch !== this.#epoch;
    if (!isScheduled) this.#waiters.release(scheduled);
    else if (isOutdated && scheduled.type !== "push") this.#scheduler.after(scheduled, 0);
    // The job may have called while the server checked its network.
    else if (isOutdated || scheduled.heartbeatAt !== heartbeatAt) this.#scheduler.first(scheduled);
    else this.#take(scheduled, begin, found);
    this.#beginDue();
  }

  /** Processes a result and schedules the next check. */
  #take(scheduled: ScheduledMonitor, begin: Begin, found: ProbeResult): void {
    const waiters = this.#waiters.take(scheduled);
    const needsRecheck = this.#results.take("check", scheduled, begin, found, waiters);
    this.#wakeForRecorder();
    this.#scheduler.next(scheduled, needsRecheck);
  }

  /** Reads changed monitors. New and changed ones are checked at once. */
  #refresh(): void {
    if (!this.#isRegistryStale) return;
    const isFirst = this.#refreshedAt === Number.NEGATIVE_INFINITY;
    const { changed, removed } = this.#registry.refresh(this.#ctx.db);
    this.#isRegistryStale = false;
    this.#refreshedAt = this.#ctx.clock.monotonic();
    for (const scheduled of removed) this.#queue.remove(scheduled);
    for (const scheduled of changed) {
      if (scheduled.isPaused) this.#queue.remove(scheduled);
      else if (isFirst || scheduled.type === "push") this.#scheduler.first(scheduled);
      else this.#scheduler.after(scheduled, 0);
    }
    this.#results.recorder.isWatching = [...this.#registry].some(({ isPaused }) => !isPaused);
  }

  /** If the server was offline, records the time without data and schedules all monitors again. */
  #checkLiveness(): void {
    const since = this.#liveness.look();
    if (since === undefined) return;
    this.#epoch += 1;
    const watching = [...this.#registry].filter(({ isPaused }) => !isPaused);
    if (watching.length === 0) return;
    this.#ctx.log.warn({ since: new Date(since) }, "the server was offline: no data since then");
    for (const scheduled of watching) {
      this.#results.takeOffline(scheduled, since);
      this.#scheduler.first(scheduled);
    }
    this.#results.recorder.write();
  }
}
