import type { Timer } from "../../../base/clock";
import { conflict, notFound } from "../../../base/errors";
import type { MonitorType } from "../../../base/status";
import type { Ctx } from "../../../context";
import { createEgress, type Egress } from "../../../egress/egress";
import type { StepRecorder } from "../../../egress/steps";
import { type CheckRow, findLiveness } from "../checks-store";
import { closing, type Heartbeat, type Monitoring, type ProbeResult } from "../monitoring";
import type { MonitorConfig } from "../probes";
import { SHORT_TIMEOUT_MS } from "../wire";
import type { MonitoringFigures } from "./figures";
import { startIncidentClock } from "./incidents";
import { NetworkWatch } from "./network";
import { Dependencies, hasDeadline, MonitorRegistry, type ScheduledMonitor } from "./registry";
import { ResultProcessor } from "./results";
import { Prober, type ProberOptions } from "./prober";
import { ANSWER_MAX_MS, CheckRunner } from "./runner";
import { CheckQueue, CheckScheduler, WakeTimer } from "./scheduler";
import { Liveness, Stalls } from "./stalls";

/** Interval of checking if the server was offline. */
const LIVENESS_INTERVAL_MS = 15_000;
/** Checks due within this time start together: one that starts alone costs a fifth more. */
const COARSENESS_MS = 50;
/** Maximum number of changed monitors that one turn of the event loop reads, about 10 ms of work. */
const MONITORS_PER_TICK = 500;
/** Time that a check without a monitor has at least if it is repeated. */
const TRIAL_MIN_MS = ANSWER_MAX_MS - SHORT_TIMEOUT_MS;
/** Minimum interval between two reads of changed monitors. */
const REFRESH_MS = 250;

/** Runs the checks of all monitors when they are due and passes on their results. */
export class Engine implements Monitoring {
  readonly #ctx: Ctx;
  readonly #prober: Prober;
  readonly #results: ResultProcessor;
  readonly #liveness: Liveness;
  readonly #stalls: Stalls;
  readonly #detectsStalls: boolean;
  readonly #wakeTimer: WakeTimer;
  readonly #scheduler: CheckScheduler;
  readonly #dependencies: Dependencies;
  readonly #runner: CheckRunner;
  readonly #network: NetworkWatch;
  readonly #registry = new MonitorRegistry();
  readonly #queue = new CheckQueue();
  readonly #unsubscribe: (() => void)[];
  /** Number of running checks without a monitor. */
  #trials = 0;
  #isRegistryStale = true;
  #hasReadFailed = false;
  #refreshedAt = Number.NEGATIVE_INFINITY;
  #incidentClock: Timer | undefined;
  #state: "made" | "running" | "stopped" = "made";

  constructor(
    ctx: Ctx,
    prober: Prober,
    {
      stalls,
      detectsStalls,
      alarms,
    }: { stalls: Stalls; detectsStalls: boolean; alarms: ProberOptions["alarms"] },
  ) {
    this.#ctx = ctx;
    this.#prober = prober;
    this.#stalls = stalls;
    this.#detectsStalls = detectsStalls;
    this.#liveness = new Liveness(ctx.clock, findLiveness(ctx.db, {})?.at);
    this.#wakeTimer = new WakeTimer(ctx.clock, () => this.#tick());
    this.#scheduler = new CheckScheduler(ctx, this.#queue, this.#wakeTimer, this.#liveness, stalls);
    const dependencies = new Dependencies(ctx.clock, this.#registry, (parent) =>
      this.#runner.request(parent),
    );
    this.#dependencies = dependencies;
    this.#results = new ResultProcessor(ctx, dependencies, this.#liveness, () =>
      this.#wakeForRecorder(),
    );
    this.#network = new NetworkWatch({
      ctx,
      alarms,
      registry: this.#registry,
      stalls,
      check: (scheduled) => this.#runner.request(scheduled),
      release: (scheduled) => this.#runner.checkAgain(scheduled),
      count: (scheduled) => {
        if (!this.#results.countHeld(scheduled)) this.#scheduler.after(scheduled, 0);
      },
    });
    this.#runner = new CheckRunner({
      clock: ctx.clock,
      isPrimary: () => ctx.isPrimary(),
      prober,
      dependencies,
      registry: this.#registry,
      queue: this.#queue,
      scheduler: this.#scheduler,
      results: this.#results,
      stalls,
      network: this.#network,
      onEnd: () => this.#checkLiveness(),
      onResult: () => this.#wakeForRecorder(),
    });
    const markRegistryStale = () => {
      this.#isRegistryStale = true;
      this.#results.maintenanceMayHaveChanged();
      this.#wakeTimer.at(this.#refreshedAt + REFRESH_MS);
    };
    const onPageChanged = () => {
      this.#results.maintenanceMayHaveChanged();
      this.#wakeTimer.at(ctx.clock.monotonic());
    };
    const { monitorsChanged, pageChanged } = ctx.signals;
    this.#unsubscribe = [monitorsChanged.on(markRegistryStale), pageChanged.on(onPageChanged)];
  }

  /** Starts the checks. First records the time in which the server was offline. */
  start(): void {
    this.#state = "running";
    this.#wakeTimer.on();
    if (this.#detectsStalls) {
      this.#stalls.watch(
        () => this.#queue.underWay > 0 || this.#trials > 0,
        () => this.#lookOften(),
      );
    }
    // Monitors may have been read before the start by a requested check, when nothing could be
    // scheduled.
    for (const scheduled of this.#registry)
      if (!scheduled.isPaused) this.#scheduler.first(scheduled);
    this.#tick();
    this.#incidentClock = startIncidentClock(this.#ctx);
  }

  /**
   * Drops running checks without a result, and begins no others. The next start makes them. Reports of jobs still
   * count.
   */
  dropChecks(): void {
    this.#network.stop();
    this.#runner.stop();
  }

  /** Drops running checks, and writes all results. */
  async stop(): Promise<void> {
    if (this.#state === "stopped") return;
    this.#state = "stopped";
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#wakeTimer.off();
    this.#stalls.stop();
    this.#incidentClock?.cancel();
    this.dropChecks();
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
      held: this.#network.heldChecks,
      ...figures.soFar(),
    };
  }

  /** Time of the oldest result that is not written yet, in unix ms. */
  oldestUnwritten(): number | undefined {
    return this.#results.recorder.oldestAt;
  }

  async checkNow(id: string, steps?: StepRecorder): Promise<CheckRow> {
    if (this.#state === "stopped" || !this.#ctx.isPrimary()) throw closing();
    const scheduled = this.#findScheduled(id);
    if (!scheduled) throw notFound("monitor");
    if (scheduled.isPaused) throw conflict("The monitor is paused.");
    if (scheduled.type === "push")
      throw conflict("A push monitor cannot be checked, because its job sends heartbeats.");
    const check = await this.#runner.check(scheduled, steps);
    if (!check) throw conflict("The monitor was paused or deleted meanwhile.");
    return check;
  }

  async heartbeat(id: string, beat: Heartbeat, arrivedAt?: number): Promise<void> {
    if (this.#state === "stopped") throw closing();
    const scheduled = this.#findScheduled(id);
    if (!scheduled || scheduled.isPaused) return;
    if (scheduled.job) await this.#runner.receive(scheduled, scheduled.job, beat, arrivedAt);
  }

  nextCheckAt(id: string): number | undefined {
    const scheduled = this.#registry.find(id);
    if (!scheduled || scheduled.type === "push" || scheduled.heapIndex < 0) return undefined;
    return this.#ctx.clock.now() + scheduled.dueAt - this.#ctx.clock.monotonic();
  }

  async tryOut(
    type: MonitorType,
    config: object,
    timeoutMs: number,
    steps?: StepRecorder,
  ): Promise<ProbeResult> {
    const limitMs = Math.min(timeoutMs, SHORT_TIMEOUT_MS);
    const run = (ms: number) => this.#prober.run(type, config as MonitorConfig, ms, steps);
    this.#trials += 1;
    try {
      this.#stalls.begin();
      const startedAt = this.#ctx.clock.monotonic();
      const result = await run(limitMs);
      if (!this.#stalls.hasEndedSince(startedAt)) return result;
      steps?.restart();
      // The caller waits for both.
      const leftMs = startedAt + ANSWER_MAX_MS - this.#ctx.clock.monotonic();
      return await run(Math.min(limitMs, Math.max(leftMs, TRIAL_MIN_MS)));
    } finally {
      this.#trials -= 1;
    }
  }

  isTooBusy(): boolean {
    return this.#stalls.isTooBusy;
  }

  #tick(): void {
    if (!this.#ctx.isPrimary()) {
      this.#wakeTimer.at(this.#ctx.clock.monotonic() + REFRESH_MS);
      return;
    }
    try {
      // Before the first check all are read, since time without data is recorded for all.
      const isFirst = this.#refreshedAt === Number.NEGATIVE_INFINITY;
      this.#refresh(isFirst ? undefined : MONITORS_PER_TICK);
      this.#network.start();
      this.#checkLiveness();
      for (const scheduled of this.#results.refreshMaintenance(this.#registry)) {
        if (scheduled.type !== "push") this.#scheduler.after(scheduled, 0);
      }
      this.#results.remind(this.#registry);
      this.#hasReadFailed = false;
    } catch (error) {
      // Logged once, since it may last for hours. The next tick reads again.
      if (!this.#hasReadFailed) this.#ctx.log.error({ err: error }, "monitors could not be read");
      this.#hasReadFailed = true;
    }
    this.#runner.beginDue();
    const { recorder } = this.#results;
    const now = this.#ctx.clock.monotonic();
    if (recorder.dueAt <= now) recorder.write();
    const nextDue = this.#queue.peek()?.dueAt ?? Number.POSITIVE_INFINITY;
    const next = Math.min(nextDue, recorder.dueAt, now + LIVENESS_INTERVAL_MS);
    this.#wakeTimer.at(Math.max(next, now + COARSENESS_MS));
  }

  /** Returns a monitor, also one that another process has just created. */
  #findScheduled(id: string): ScheduledMonitor | undefined {
    if (this.#refreshedAt === Number.NEGATIVE_INFINITY) this.#refresh();
    // Others are left to the timer: after a change of all, each heartbeat would wait for thousands.
    else if (this.#isRegistryStale || !this.#registry.find(id)) this.#refreshOne(id);
    return this.#registry.find(id);
  }

  #wakeForRecorder(): void {
    this.#wakeTimer.at(this.#results.recorder.dueAt);
  }

  /** Reads changed monitors, at most `limit`. New and changed ones are checked at once. */
  #refresh(limit?: number): void {
    if (!this.#isRegistryStale) return;
    const isFirst = this.#refreshedAt === Number.NEGATIVE_INFINITY;
    const { changed, removed, hasMore } = this.#registry.refresh(this.#ctx.db, limit);
    this.#isRegistryStale = hasMore;
    if (hasMore) this.#wakeTimer.at(this.#ctx.clock.monotonic());
    this.#refreshedAt = this.#ctx.clock.monotonic();
    for (const scheduled of [...removed, ...changed]) this.#dependencies.endWait(scheduled);
    if (!isFirst) for (const scheduled of [...removed, ...changed]) this.#network.forget(scheduled);
    for (const scheduled of removed) this.#runner.drop(scheduled);
    for (const scheduled of changed) this.#scheduleChanged(scheduled, isFirst);
    this.#results.recorder.isWatching = [...this.#registry].some(({ isPaused }) => !isPaused);
  }

  #refreshOne(id: string): void {
    const changed = this.#registry.refreshOne(this.#ctx.db, id);
    // Removes what was deleted.
    if (changed === null) this.#refresh(MONITORS_PER_TICK);
    if (!changed) return;
    this.#dependencies.endWait(changed);
    this.#network.forget(changed);
    this.#scheduleChanged(changed, false);
    if (!changed.isPaused) this.#results.recorder.isWatching = true;
  }

  #scheduleChanged(scheduled: ScheduledMonitor, isFirst: boolean): void {
    if (scheduled.isPaused) this.#runner.drop(scheduled);
    else if (isFirst || scheduled.type === "push") this.#scheduler.first(scheduled);
    else this.#scheduler.after(scheduled, 0);
  }

  /**
   * If the server was offline, records the time without data and schedules all monitors again. If the clock was set
   * back by hours, schedules jobs again whose deadlines depend on it.
   */
  #checkLiveness(): void {
    const since = this.#liveness.look();
    if (this.#liveness.wasSetBack) this.#rescheduleJobs();
    if (since === undefined) return;
    this.#runner.discardRunning();
    const watching = [...this.#registry].filter(({ isPaused }) => !isPaused);
    if (watching.length === 0) return;
    this.#ctx.log.warn({ since: new Date(since) }, "the server was offline: no data since then");
    for (const scheduled of watching) {
      if (hasDeadline(scheduled)) this.#results.takeOffline(scheduled, since);
      this.#scheduler.first(scheduled);
    }
    this.#results.recorder.write();
  }

  /** Checks the liveness each time that the stalls do, so that a stall of less than its limit is never offline. */
  #lookOften(): void {
    const isRead = this.#refreshedAt !== Number.NEGATIVE_INFINITY;
    if (isRead && this.#ctx.isPrimary()) this.#checkLiveness();
  }

  #rescheduleJobs(): void {
    for (const scheduled of this.#registry) {
      const { isPaused, job } = scheduled;
      if (!isPaused && (job?.schedule || job?.runs.length)) this.#scheduler.first(scheduled);
    }
  }
}

/**
 * The check engine: schedules and runs checks, evaluates their results and applies transitions. One
 * timer starts all checks. Results wait in a queue and are evaluated in the transaction that writes
 * them.
 *
 * Steps of a check: `check-scheduler.ts` sets its due time, `check-queue.ts` gives it a place,
 * `check-runner.ts` runs it with `prober.ts`, and after a failure `dependencies.ts` asks for the checks of
 * parents. If this process stood still meanwhile (`stalls.ts`), the check is repeated. `result-processor.ts`
 * evaluates the result in memory, to schedule the next check, and passes it to `recorder.ts`. `record.ts` writes
 * it, and evaluates it again by the database, which decides.
 * `transitions.ts` writes the consequences of a new state.
 */

interface MonitoringOptions extends ProberOptions {
  /** True to repeat checks during which this process stood still. */
  detectsStalls?: boolean;
}

/** Creates the engine. Until `start`, it runs only checks that a user or the API requests. */
export function createMonitoring(
  ctx: Ctx,
  egress: Egress = createEgress(ctx),
  { detectsStalls = false, ...options }: MonitoringOptions = {},
): Engine {
  const stalls = new Stalls(ctx.clock);
  const prober = new Prober(ctx, egress, { ...options, stalls });
  return new Engine(ctx, prober, { stalls, detectsStalls, alarms: options.alarms });
}
