import type { Timer } from "../../../base/clock";
import { conflict, notFound, unavailable } from "../../../base/errors";
import {
  CHECK_OUTCOMES,
  type CheckOutcome,
  isPassive,
  type MonitorState,
  type MonitorType,
  SUPPORTED_TYPES,
  type SupportedType,
} from "../../../base/status";
import { SECOND_MS } from "../../../base/time";
import type { Ctx } from "../../../context";
import { createEgress, type Egress } from "../../../egress/egress";
import type { StepRecorder } from "../../../egress/steps";
import type { Alarms } from "../../alarms/alarms";
import type { AgentResult } from "../../locations/agent-wire";
import type { CheckRequests } from "../../locations/check-requests";
import type { LocationCount } from "../../locations/store";
import type { CheckRow } from "../checks-store";
import { findLiveness } from "../spans-store";
import {
  CANNOT_CHECK,
  closing,
  type Heartbeat,
  type Monitoring,
  type ProbeResult,
  type CheckNowResult,
} from "../monitoring";
import type { MonitorConfig } from "../probes";
import type { Presence } from "../agent-contact";
import { noteVia } from "../via";
import { SHORT_TIMEOUT_MS } from "../wire";
import { AlertChecks } from "./alerts";
import type { Entry, Waiter } from "./entry";
import { startIncidentClock } from "./incidents";
import {
  type Job,
  type Missed,
  missedDeadline,
  receiveSignal,
  reportMessage,
  timeToCallAgain,
} from "./job";
import { LocationWatch } from "./agent-results";
import { NetworkWatch } from "./network";
import { Prober, type ProberOptions } from "./prober";
import {
  countByLocation,
  countedResult,
  Dependencies,
  hasDeadline,
  hasFailed,
  MonitorRegistry,
  type ScheduledMonitor,
  combinedEvaluation,
} from "./registry";
import { type Begin, HELD, ResultProcessor } from "./results";
import { CheckScheduler } from "./scheduler";
import { Liveness, Stalls } from "./stalls";
import { AgentPresences } from "./presences";

/*
 * The check engine: schedules and runs checks, evaluates their results and applies transitions. One timer starts all
 * checks. Results wait in a queue and are evaluated in the transaction that writes them.
 *
 * Steps of a check: `scheduler.ts` knows that it is due and gives it a place, `Engine.#run` runs it with `prober.ts`.
 * If it failed, `network.ts` may hold it, and `registry.ts` has parents checked. If this process stood still meanwhile
 * (`stalls.ts`), the check is repeated. `results.ts` evaluates the result in memory, to schedule the next check, and
 * again by the database, which decides, when it writes it. `transitions.ts` and `incidents.ts` write the consequences
 * of a new state. `job.ts` has the deadlines of jobs that call by themselves.
 */

/** Interval of checking if the server was offline. */
const LIVENESS_INTERVAL_MS = 15_000;
/** Checks due within this time start together: one that starts alone costs a fifth more. */
const COARSENESS_MS = 50;
/** Maximum number of changed monitors that one turn of the event loop reads, about 10 ms of work. */
const MONITORS_PER_TICK = 500;
/** Minimum interval between two reads of changed monitors. */
const REFRESH_MS = 250;
/**
 * Longest wait for the answer to a requested check, shorter than the 75 s after which the server closes a
 * connection without traffic. A check with a timeout of a minute ends before; one with a longer timeout goes on.
 */
const ANSWER_MAX_MS = 70 * SECOND_MS;
/** Time that a check without a monitor has at least if it is repeated. */
const TRIAL_MIN_MS = ANSWER_MAX_MS - SHORT_TIMEOUT_MS;
/** Time after a stall until its checks are repeated, in which what waited is read. */
const REPEAT_AFTER_MS = SECOND_MS;

interface MonitoringOptions extends Omit<ProberOptions, "stalls"> {
  /** Alarms of this server. */
  alarms?: Pick<Alarms, "raise" | "clear">;
  /** True to repeat checks during which this process stood still. */
  detectsStalls?: boolean;
  /** Id of the location of this process; `local`, a server, by default. */
  location?: string;
  /** Maximum number of concurrent checks; 256 by default. */
  concurrency?: number;
  /** Stores entries elsewhere than in the database. Rejects with `unavailable` to get the same entries again. */
  store?: (entries: readonly Entry[]) => Promise<void>;
  /** Way to the agents of other locations. */
  checkRequests?: Pick<CheckRequests, "request">;
}

/** Creates the engine. Until `start`, it runs only checks that a user or the API requests. */
export function createMonitoring(
  ctx: Ctx,
  egress: Egress = createEgress(ctx),
  options: MonitoringOptions = {},
): Engine {
  return new Engine(ctx, egress, options);
}

/** Runs the checks of all monitors when they are due, and passes on their results. */
class Engine implements Monitoring {
  readonly #ctx: Ctx;
  readonly #prober: Prober;
  readonly #stalls: Stalls;
  readonly #detectsStalls: boolean;
  readonly #liveness: Liveness;
  readonly #registry: MonitorRegistry;
  readonly #dependencies: Dependencies;
  readonly #scheduler: CheckScheduler;
  readonly #results: ResultProcessor;
  readonly #network: NetworkWatch;
  readonly #alertChecks: AlertChecks;
  readonly #locations: LocationWatch;
  readonly #options: MonitoringOptions;
  readonly #figures = new CheckFigures();
  readonly #unsubscribe: (() => void)[];
  /** Callers that wait for the next result of a monitor. */
  readonly #waiters = new Map<ScheduledMonitor, Waiter[]>();
  /** Monitors whose check is repeated after a stall, and the recorders of their steps. The repetition counts. */
  readonly #repeated = new Map<ScheduledMonitor, StepRecorder | undefined>();
  /** Raised after the server was offline, so that running checks do not count. */
  #epoch = 0;
  /** Number of running checks without a monitor. */
  #trials = 0;
  #isRegistryStale = true;
  #hasLooked = false;
  #hasReadFailed = false;
  #refreshedAt = Number.NEGATIVE_INFINITY;
  #incidentClock: Timer | undefined;
  #hasDroppedChecks = false;
  #isStopped = false;

  constructor(ctx: Ctx, egress: Egress, options: MonitoringOptions) {
    const { detectsStalls = false, alarms, location, concurrency, store } = options;
    this.#ctx = ctx;
    this.#options = options;
    this.#registry = new MonitorRegistry(location);
    this.#stalls = new Stalls(ctx.clock);
    this.#detectsStalls = detectsStalls;
    this.#prober = new Prober(ctx, egress, { ...options, stalls: this.#stalls });
    this.#liveness = new Liveness(ctx.clock, findLiveness(ctx.db, {})?.at);
    const wake = () => this.#tick();
    this.#scheduler = new CheckScheduler(ctx, this.#liveness, this.#stalls, wake, concurrency);
    this.#dependencies = new Dependencies(
      ctx.clock,
      this.#registry,
      (parent) => this.#request(parent),
      (parent) => this.#locations.checkRemotely(parent),
    );
    const presences = new AgentPresences(ctx);
    this.#results = new ResultProcessor({
      ctx,
      store,
      dependencies: this.#dependencies,
      liveness: this.#liveness,
      scheduler: this.#scheduler,
      saveContacts: (tx) => presences.save(tx),
      locationContext: {
        presenceOf: (id) => presences.presenceOf(id),
        nameOf: (id) => presences.nameOf(id),
        heardSince: () => this.#liveness.heardSince,
      },
    });
    this.#locations = new LocationWatch({
      ctx,
      presences,
      registry: this.#registry,
      dependencies: this.#dependencies,
      results: this.#results,
      checkRequests: options.checkRequests,
      hadChange: (scheduled, before) => this.#afterChange(scheduled, before),
    });
    this.#network = new NetworkWatch({
      ctx,
      alarms,
      registry: this.#registry,
      stalls: this.#stalls,
      check: (scheduled) => this.#request(scheduled),
      release: (scheduled) => this.#checkAgain(scheduled),
      count: (scheduled) => this.#results.countHeld(scheduled),
    });
    this.#alertChecks = new AlertChecks({
      ctx,
      alarms,
      heardSince: () => this.#liveness.heardSince,
      stateOf: (id) => {
        const found = this.#registry.find(id);
        return found && combinedEvaluation(found).state;
      },
    });
    this.#unsubscribe = this.#subscribe(ctx);
  }

  /** Has changes of monitors, pages and locations noticed. Returns functions that end this. */
  #subscribe({ clock, signals: { locationsChanged, monitorsChanged, pageChanged } }: Ctx) {
    return [
      monitorsChanged.on(() => {
        this.#isRegistryStale = true;
        this.#results.maintenanceMayHaveChanged();
        this.#scheduler.wakeAt(this.#refreshedAt + REFRESH_MS);
      }),
      pageChanged.on(() => {
        this.#results.maintenanceMayHaveChanged();
        this.#scheduler.wakeAt(clock.monotonic());
      }),
      locationsChanged.on(() => this.#locations.markStale()),
    ];
  }

  /** Starts the checks. First records the time in which the server was offline. */
  start(): void {
    this.#scheduler.start();
    if (this.#detectsStalls) {
      this.#stalls.watch(
        () => this.#scheduler.underWay > 0 || this.#trials > 0,
        () => this.#lookOften(),
      );
    }
    // Monitors may have been read before the start by a requested check, when nothing could be
    // scheduled.
    for (const scheduled of this.#registry)
      if (!scheduled.isPaused) this.#scheduler.first(scheduled);
    this.#tick();
    if (!this.#options.store) this.#incidentClock = startIncidentClock(this.#ctx);
  }

  /**
   * Drops running checks without a result, and begins no others. The next start makes them. Reports of jobs still
   * count.
   */
  dropChecks(): void {
    this.#hasDroppedChecks = true;
    this.#network.stop();
    this.#prober.stop();
    for (const waiter of [...this.#waiters.values()].flat()) waiter.reject(closing());
    this.#waiters.clear();
    this.#dependencies.releaseAll();
  }

  /** Drops running checks, and writes all results. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#scheduler.stop();
    this.#stalls.stop();
    this.#incidentClock?.cancel();
    this.dropChecks();
    this.#liveness.look();
    await this.#results.recorder.close();
  }

  /** Reads what has changed, begins the checks that are due, and writes what has waited long enough. */
  #tick(): void {
    const { clock, log } = this.#ctx;
    if (!this.#ctx.isPrimary()) {
      this.#scheduler.wakeAt(clock.monotonic() + REFRESH_MS);
      return;
    }
    try {
      // Before the first check all are read, since time without data is recorded for all.
      const isFirst = this.#refreshedAt === Number.NEGATIVE_INFINITY;
      this.#refresh(isFirst ? undefined : MONITORS_PER_TICK);
      this.#network.start();
      this.#checkLiveness();
      if (!this.#options.store) this.#locations.look();
      for (const scheduled of this.#results.refreshMaintenance(this.#registry)) {
        if (scheduled.type !== "push") this.#scheduler.after(scheduled, 0);
      }
      this.#results.remind(this.#registry);
      this.#hasReadFailed = false;
    } catch (error) {
      // Logged once, since it may last for hours. The next tick reads again.
      if (!this.#hasReadFailed) log.error({ err: error }, "monitors could not be read");
      this.#hasReadFailed = true;
    }
    this.#beginDue();
    const { recorder } = this.#results;
    const now = clock.monotonic();
    if (recorder.dueAt <= now) recorder.write();
    const { nextDueAt } = this.#scheduler;
    const next = Math.min(nextDueAt, recorder.dueAt, now + LIVENESS_INTERVAL_MS);
    this.#scheduler.wakeAt(Math.max(next, now + COARSENESS_MS));
  }

  /** Starts the checks that are due, if checks may begin. */
  #beginDue(): void {
    if (!this.#ctx.isPrimary() || this.#hasDroppedChecks) return;
    const now = this.#ctx.clock.monotonic();
    for (let next = this.#scheduler.due(now); next; next = this.#scheduler.due(now)) {
      this.#figures.began(now - next.dueAt);
      void this.#run(next);
    }
  }

  /** Runs a check, counts or discards its result, and schedules the next one. Never rejects. */
  async #run(scheduled: ScheduledMonitor, ownSteps?: StepRecorder): Promise<void> {
    const { clock } = this.#ctx;
    const isRepeated = this.#repeated.has(scheduled);
    const steps = ownSteps ?? this.#repeated.get(scheduled);
    this.#repeated.delete(scheduled);
    this.#scheduler.begin(scheduled);
    const { version, heartbeatAt, job } = scheduled;
    const epoch = this.#epoch;
    const isOutdated = () => version !== scheduled.version || epoch !== this.#epoch;
    const isCurrent = () =>
      this.#isKept(scheduled) && !isOutdated() && scheduled.heartbeatAt === heartbeatAt;

    this.#stalls.begin();
    const begin = this.#results.begin(scheduled);
    const hasStalled = () => this.#stalls.hasEndedSince(begin.startedAt);
    const isSpoiled = () =>
      job ? this.#scheduler.isTooEarly(scheduled) : !isRepeated && hasStalled();
    const canCount = () => isCurrent() && !isSpoiled();
    const missed = job && missedDeadline(job, scheduled, clock);
    const alerts = scheduled.type === "alert" ? this.#alertChecks.run(scheduled) : undefined;
    scheduled.hasNews = false;
    if (alerts && !isNews(scheduled, alerts.result)) {
      this.#scheduler.free(scheduled, undefined);
      this.#scheduler.end(scheduled);
      this.#dependencies.release(scheduled, false);
      this.#scheduler.after(scheduled, alerts.againMs);
      return;
    }
    const own =
      alerts?.result ??
      (missed
        ? await this.#prober.missHeartbeat(missed)
        : await this.#prober.find(scheduled, begin.startedAt, steps));
    if (own.via) void noteVia(this.#ctx, scheduled.id, own.via);
    const isTimeKnown = !hasStalled() || isRepeated;
    this.#scheduler.free(scheduled, isTimeKnown ? clock.monotonic() - begin.startedAt : undefined);
    if (this.#hasDroppedChecks) return;
    this.#checkLiveness();
    const isHeld = canCount() && (await this.#isHeld(scheduled, begin, own, missed));
    if (this.#hasDroppedChecks) return;
    this.#checkLiveness();
    if (isHeld) scheduled.heldFailure = own;
    const found = isHeld ? HELD : countedResult(scheduled, own);
    if (found.outcome === "failed" && !begin.isInMaintenance && canCount()) {
      const parents = this.#dependencies.parentsToCheck(scheduled);
      if (parents.length > 0) {
        await this.#waitForParents(scheduled, begin, found, parents);
        if (this.#hasDroppedChecks) return;
        this.#checkLiveness();
      }
    }
    this.#scheduler.end(scheduled);
    if (canCount()) {
      const waiters = this.#takeWaiters(scheduled);
      const needsRecheck = this.#count("check", scheduled, begin, found, waiters);
      this.#dependencies.release(scheduled, true);
      if (alerts) this.#scheduler.after(scheduled, scheduled.hasNews ? 0 : alerts.againMs);
      else if (isHeld && !job) {
        this.#scheduler.after(scheduled, this.#network.recheckMs(scheduled));
      } else this.#scheduler.next(scheduled, needsRecheck, begin.at);
    } else this.#discard(scheduled, steps, { isOutdated: isOutdated(), isSpoiled: isSpoiled() });
    this.#beginDue();
  }

  #isKept(scheduled: ScheduledMonitor): boolean {
    return this.#registry.ofNum(scheduled.num) === scheduled && !scheduled.isPaused;
  }

  /** Discards a check that does not count, and schedules the next one. */
  #discard(
    scheduled: ScheduledMonitor,
    steps: StepRecorder | undefined,
    { isOutdated, isSpoiled }: { isOutdated: boolean; isSpoiled: boolean },
  ): void {
    this.#discardUncounted(scheduled);
    if (!this.#isKept(scheduled)) {
      steps?.discard();
      this.#releaseWaiters(scheduled);
      this.#dependencies.release(scheduled, false);
    } else if (scheduled.job) {
      // A deadline may have moved with a change, or while the server was offline. Otherwise the job has called while the
      // server checked its network, or may have called during a stall.
      if (isOutdated) this.#scheduler.first(scheduled);
      else this.#scheduler.resume(scheduled);
    } else if (isSpoiled) {
      // Callers that wait get the result of the repetition.
      this.#figures.discardedForStall();
      steps?.restart();
      this.#repeated.set(scheduled, steps);
      this.#scheduler.after(scheduled, REPEAT_AFTER_MS);
    } else {
      // A check that started before a change of its monitor, or before the server was offline, is repeated.
      steps?.discard();
      this.#scheduler.after(scheduled, 0);
    }
  }

  /** Returns true if a result is held, since this server may have lost its network. May wait. */
  async #isHeld(
    scheduled: ScheduledMonitor,
    begin: Begin,
    result: ProbeResult,
    missed: Missed | undefined,
  ): Promise<boolean> {
    if (result.outcome === "ok") this.#network.noteAnswer(scheduled, result.contact);
    if (result.outcome !== "failed") return false;
    const counted = countedResult(scheduled, result);
    const wouldChange = this.#results.wouldChange(scheduled, begin, counted);
    return missed
      ? this.#network.isMissHeld(scheduled, wouldChange)
      : this.#network.isHeld(scheduled, result, begin.startedAt, wouldChange);
  }

  /**
   * Waits for the checks of parents, while the failure does not count yet. Others can start meanwhile, and
   * monitors that depend on this one know that it fails.
   */
  async #waitForParents(
    scheduled: ScheduledMonitor,
    { at, startedAt }: Begin,
    { outcome, latencyMs, message }: ProbeResult,
    parents: readonly ScheduledMonitor[],
  ): Promise<void> {
    scheduled.uncounted = {
      monitorNum: scheduled.num,
      at: Math.round(at),
      outcome,
      latencyMs: latencyMs === null ? null : Math.round(latencyMs),
      message,
    };
    this.#dependencies.release(scheduled, true);
    this.#beginDue();
    await this.#dependencies.check(scheduled, parents, startedAt);
  }

  /**
   * Counts a result. Returns true if the next check should come sooner. Monitors that were unreachable
   * through a monitor that no longer fails are checked at once.
   */
  #count(...taken: Parameters<ResultProcessor["take"]>): boolean {
    const [, scheduled, , { outcome }] = taken;
    const before = { hadFailed: hasFailed(scheduled), state: combinedEvaluation(scheduled).state };
    scheduled.uncounted = undefined;
    this.#figures.ended(scheduled.type, outcome);
    const needsRecheck = this.#results.take(...taken);
    this.#afterChange(scheduled, before);
    return needsRecheck;
  }

  /** Checks the monitors at once that may change with another one. */
  #afterChange(
    scheduled: ScheduledMonitor,
    { hadFailed, state }: { hadFailed: boolean; state: MonitorState },
  ): void {
    if (hadFailed && !hasFailed(scheduled)) this.#recheckThrough(scheduled);
    if (state !== combinedEvaluation(scheduled).state) this.#checkWatched(scheduled);
  }

  /**
   * Discards a failure that waited for the checks of parents. Monitors that it made unreachable are checked at
   * once, unless their parent fails anyway.
   */
  #discardUncounted(scheduled: ScheduledMonitor): void {
    if (!scheduled.uncounted) return;
    scheduled.uncounted = undefined;
    if (!hasFailed(scheduled)) this.#recheckThrough(scheduled);
  }

  /** Checks the monitors that are unreachable through one that no longer fails or was paused. */
  #recheckThrough(scheduled: ScheduledMonitor): void {
    for (const child of this.#dependencies.unreachableThrough(scheduled)) this.#checkAgain(child);
  }

  /** Checks a monitor at once. The job of a push monitor, which may have called in vain, has time to call again. */
  #checkAgain(scheduled: ScheduledMonitor): void {
    const delayMs = scheduled.type === "push" ? timeToCallAgain(scheduled) : 0;
    this.#scheduler.after(scheduled, delayMs);
    if (scheduled.multiLocation) void this.#locations.checkRemotely(scheduled);
  }

  /** Makes a check for which others wait begin as soon as there is a place for it. */
  #request(scheduled: ScheduledMonitor): void {
    if (scheduled.isUnderWay || scheduled.isRemoteOnly) return;
    this.#scheduler.hasten(scheduled);
    this.#beginDue();
  }

  /* Requests of routes and screens. */

  async checkNow(id: string, steps?: StepRecorder): Promise<CheckNowResult> {
    if (this.#isStopped || !this.#ctx.isPrimary()) throw closing();
    const scheduled = this.#findScheduled(id);
    if (!scheduled) throw notFound("monitor");
    if (scheduled.isPaused) throw conflict("The monitor is paused.");
    if (isPassive(scheduled.type)) throw conflict(CANNOT_CHECK);
    if (this.#hasDroppedChecks) throw closing();
    if (!scheduled.multiLocation) return this.#checkHere(scheduled, steps);
    const remote = this.#locations.checkNow(scheduled, steps !== undefined);
    if (!scheduled.isRemoteOnly) {
      const [check, others] = await Promise.all([this.#checkHere(scheduled, steps), remote]);
      return { ...check, locations: others };
    }
    const locations = await remote;
    const first = locations.find(({ check }) => check !== undefined)?.check;
    if (!first) throw unavailable(locations[0]?.error ?? "The check has no result yet.", 5);
    return { monitorNum: scheduled.num, ...first, locations };
  }

  /** Checks a monitor here. */
  async #checkHere(scheduled: ScheduledMonitor, steps?: StepRecorder): Promise<CheckRow> {
    const waiter: Waiter = Promise.withResolvers();
    this.#waiters.set(scheduled, [...(this.#waiters.get(scheduled) ?? []), waiter]);
    if (!scheduled.isUnderWay) void this.#run(scheduled, steps);
    const timer = this.#ctx.clock.after(ANSWER_MAX_MS, () => {
      // A failure that still waits for parents is returned before it counts.
      if (scheduled.uncounted) waiter.resolve(scheduled.uncounted);
      else waiter.reject(unavailable("The check has no result yet. It is listed later.", 5));
    });
    try {
      const check = await waiter.promise;
      if (!check) throw conflict("The monitor was paused or deleted meanwhile.");
      return check;
    } finally {
      timer.cancel();
    }
  }

  takeResults(locationId: string, process: string, results: readonly AgentResult[]): Promise<void> {
    if (this.#isStopped || !this.#ctx.isPrimary()) return Promise.reject(closing());
    if (this.#isRegistryStale) {
      // The first time all are read, since time without data is recorded for all.
      const isFirst = this.#refreshedAt === Number.NEGATIVE_INFINITY;
      this.#refresh(isFirst ? undefined : MONITORS_PER_TICK);
    }
    this.#checkLiveness();
    return this.#locations.take(locationId, process, results);
  }

  noteCall(locationId: string, agentVersion: string): void {
    this.#locations.noteCall(locationId, agentVersion);
  }

  countByLocation(): LocationCount[] {
    return countByLocation(this.#registry);
  }

  presenceOf(locationId: string): Presence {
    return this.#locations.presences.presenceOf(locationId);
  }

  contactAt(locationId: string): number | undefined {
    return this.#locations.presences.contactAt(locationId);
  }

  async heartbeat(id: string, beat: Heartbeat, arrivedAt?: number): Promise<void> {
    if (this.#isStopped) throw closing();
    const scheduled = this.#findScheduled(id);
    if (!scheduled || scheduled.isPaused) return;
    if (scheduled.job) await this.#receive(scheduled, scheduled.job, beat, arrivedAt);
  }

  /** Counts the report of a job, opens a run or keeps a message. Resolves when it is stored. */
  async #receive(scheduled: ScheduledMonitor, job: Job, beat: Heartbeat, arrivedAt = Infinity) {
    if (beat.isFromOutside !== undefined) scheduled.callsFromOutside = beat.isFromOutside;
    const begin = this.#results.beginAt(scheduled, arrivedAt);
    const waiter: Waiter = Promise.withResolvers();
    const signal = receiveSignal(job, scheduled.graceMs, beat, begin.at);
    if ("kind" in beat) {
      this.#results.notice(scheduled, begin.at, signal, waiter);
      this.#scheduler.resume(scheduled);
    } else {
      this.#network.noteAnswer(scheduled);
      scheduled.heartbeatAt = begin.at;
      const report = { outcome: beat.outcome, latencyMs: signal.durationMs };
      const result = countedResult(scheduled, { ...report, message: reportMessage(beat) });
      this.#count("heartbeat", scheduled, begin, result, [waiter], signal);
      this.#scheduler.reported(scheduled, job, begin.at);
    }
    await waiter.promise;
  }

  alertsChanged(ids: Iterable<string>): void {
    if (this.#isStopped || !this.#ctx.isPrimary()) return;
    for (const id of ids) {
      const scheduled = this.#findScheduled(id);
      if (!scheduled || scheduled.type !== "alert" || scheduled.isPaused) continue;
      // A check that waits for parents is followed by another one.
      scheduled.hasNews = true;
      this.#request(scheduled);
    }
  }

  /** Judges the monitors again that may have a push monitor as their watchdog. */
  #checkWatched({ job }: ScheduledMonitor): void {
    if (!job) return;
    for (const each of this.#registry) {
      if (each.config["watchdog"] !== undefined && !each.isPaused) this.#request(each);
    }
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

  nextCheckAt(id: string): number | undefined {
    const scheduled = this.#registry.find(id);
    if (!scheduled || isPassive(scheduled.type) || scheduled.heapIndex < 0) return undefined;
    return this.#ctx.clock.now() + scheduled.dueAt - this.#ctx.clock.monotonic();
  }

  isTooBusy(): boolean {
    return this.#stalls.isTooBusy;
  }

  figures(): MonitoringFigures {
    const { recorder } = this.#results;
    return {
      monitors: this.#registry.size,
      underWay: this.#scheduler.underWay,
      waiting: recorder.waiting,
      dropped: recorder.dropped,
      held: this.#network.heldChecks,
      ...this.#figures.soFar(),
    };
  }

  /** Time of the oldest result that is not written yet, in unix ms. */
  oldestUnwritten(): number | undefined {
    return this.#results.recorder.oldestAt;
  }

  /** Removes and returns the callers that wait for a monitor; undefined if there are none. */
  #takeWaiters(scheduled: ScheduledMonitor): Waiter[] | undefined {
    const waiters = this.#waiters.get(scheduled);
    this.#waiters.delete(scheduled);
    return waiters;
  }

  /** Tells the callers that wait for a monitor that there will be no result. */
  #releaseWaiters(scheduled: ScheduledMonitor): void {
    for (const waiter of this.#takeWaiters(scheduled) ?? []) waiter.resolve(undefined);
  }

  /* Changes of monitors. */

  /** Returns a monitor, also one that another process has just created. */
  #findScheduled(id: string): ScheduledMonitor | undefined {
    if (this.#refreshedAt === Number.NEGATIVE_INFINITY) this.#refresh();
    // Others are left to the timer: after a change of all, each heartbeat would wait for thousands.
    else if (this.#isRegistryStale || !this.#registry.find(id)) this.#refreshOne(id);
    return this.#registry.find(id);
  }

  /** Reads changed monitors, at most `limit`. New and changed ones are checked at once. */
  #refresh(limit?: number): void {
    if (!this.#isRegistryStale) return;
    const isFirst = this.#refreshedAt === Number.NEGATIVE_INFINITY;
    const { changed, removed, hasMore } = this.#registry.refresh(this.#ctx.db, limit);
    this.#isRegistryStale = hasMore;
    if (hasMore) this.#scheduler.wakeAt(this.#ctx.clock.monotonic());
    this.#refreshedAt = this.#ctx.clock.monotonic();
    for (const scheduled of [...removed, ...changed]) this.#dependencies.endWait(scheduled);
    if (!isFirst) for (const scheduled of [...removed, ...changed]) this.#network.forget(scheduled);
    for (const scheduled of removed) this.#drop(scheduled);
    for (const scheduled of changed) this.#scheduleChanged(scheduled, isFirst);
    this.#locations.changed(changed, isFirst);
    this.#results.recorder.isWatching =
      this.#locations.presences.size > 0 || [...this.#registry].some(({ isPaused }) => !isPaused);
  }

  #refreshOne(id: string): void {
    const changed = this.#registry.refreshOne(this.#ctx.db, id);
    // Removes what was deleted.
    if (changed === null) this.#refresh(MONITORS_PER_TICK);
    if (!changed) return;
    this.#dependencies.endWait(changed);
    this.#network.forget(changed);
    this.#scheduleChanged(changed, false);
    this.#locations.changed([changed], false);
    if (!changed.isPaused) this.#results.recorder.isWatching = true;
  }

  #scheduleChanged(scheduled: ScheduledMonitor, isFirst: boolean): void {
    if (scheduled.isPaused) this.#drop(scheduled);
    else if (isFirst || scheduled.type === "push") this.#scheduler.first(scheduled);
    else this.#scheduler.after(scheduled, 0);
  }

  /** Stops checking a monitor that was paused or deleted, and checks those that it made unreachable. */
  #drop(scheduled: ScheduledMonitor): void {
    this.#scheduler.remove(scheduled);
    this.#repeated.delete(scheduled);
    // A check that is running ends by itself. One that is to be repeated will not begin.
    if (!scheduled.isUnderWay) this.#releaseWaiters(scheduled);
    this.#dependencies.release(scheduled, false);
    this.#recheckThrough(scheduled);
    this.#checkWatched(scheduled);
    this.#alertChecks.forget(scheduled);
    if (scheduled.type === "upstream") void noteVia(this.#ctx, scheduled.id, []);
  }

  /* Times in which this server was offline. */

  /**
   * If the server was offline, records the time without data and schedules all monitors again. If the clock was set
   * back by hours, schedules jobs again whose deadlines depend on it.
   */
  #checkLiveness(): void {
    const isFirst = !this.#hasLooked;
    this.#hasLooked = true;
    const since = this.#liveness.look();
    if (this.#liveness.wasSetBack) this.#rescheduleJobs();
    if (since === undefined) return;
    this.#epoch += 1;
    // The time before this process is left out of account already.
    if (!isFirst) this.#locations.presences.forgive(this.#ctx.clock.now() - since);
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

/** Returns false for a check of alerts that finds only what is known, which is no further result. */
function isNews(
  { evaluation: { state }, lastMessage }: ScheduledMonitor,
  result: ProbeResult | undefined,
): boolean {
  if (!result) return false;
  const good = result.isDegraded ? "degraded" : "up";
  const stateOf = { ok: good, failed: "down", unknown: "no_data" } as const;
  return state !== stateOf[result.outcome] || result.message !== lastMessage;
}

/** Bounds of the delays of checks, in ms. */
export const DELAY_BOUNDS_MS = [10, 50, 100, 250, 500, 1_000, 5_000, 30_000] as const;

/** Number of checks by outcome. */
type OutcomeCounts = Readonly<Record<CheckOutcome, number>>;

/** Counters of the engine since its creation, and its current load. */
export interface MonitoringFigures {
  /** Number of monitors, including paused ones. */
  monitors: number;
  /** Checks that are running. */
  underWay: number;
  checks: OutcomeCounts;
  checksByType: Readonly<Record<SupportedType, OutcomeCounts>>;
  /** Results that wait to be written, and results that were dropped. */
  waiting: number;
  dropped: number;
  /** Results that were discarded and their checks repeated, since this process stood still meanwhile. */
  stalled: number;
  /** Failed checks that were held, since this server may have lost its network. */
  held: number;
  /** Number of checks per bound of `DELAY_BOUNDS_MS`; the last counts the rest. */
  delays: readonly number[];
  delaySumMs: number;
}

/** Counts checks. */
class CheckFigures {
  readonly #checks = new Map<MonitorType, Record<CheckOutcome, number>>(
    SUPPORTED_TYPES.map((type) => [type, { ok: 0, failed: 0, unknown: 0 }]),
  );
  readonly #delays = Array.from<number>({ length: DELAY_BOUNDS_MS.length + 1 }).fill(0);
  #delaySumMs = 0;
  #stalled = 0;

  began(delayMs: number): void {
    const late = Math.max(0, delayMs);
    const bucket = DELAY_BOUNDS_MS.findIndex((bound) => late <= bound);
    const index = bucket < 0 ? DELAY_BOUNDS_MS.length : bucket;
    this.#delays[index] = (this.#delays[index] ?? 0) + 1;
    this.#delaySumMs += late;
  }

  ended(type: MonitorType, outcome: CheckOutcome): void {
    const counts = this.#checks.get(type);
    if (counts) counts[outcome] += 1;
  }

  discardedForStall(): void {
    this.#stalled += 1;
  }

  soFar(): Pick<
    MonitoringFigures,
    "checks" | "checksByType" | "delays" | "delaySumMs" | "stalled"
  > {
    const checks = { ok: 0, failed: 0, unknown: 0 };
    for (const counts of this.#checks.values()) {
      for (const outcome of CHECK_OUTCOMES) checks[outcome] += counts[outcome];
    }
    const byType = SUPPORTED_TYPES.map((type) => [type, { ...this.#checks.get(type) }]);
    return {
      checks,
      checksByType: Object.fromEntries(byType) as Record<SupportedType, OutcomeCounts>,
      delays: [...this.#delays],
      delaySumMs: this.#delaySumMs,
      stalled: this.#stalled,
    };
  }
}
