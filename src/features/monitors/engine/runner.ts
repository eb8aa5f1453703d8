import type { Clock } from "../../../base/clock";
import { unavailable } from "../../../base/errors";
import { SECOND_MS } from "../../../base/time";
import type { StepRecorder } from "../../../egress/steps";
import type { CheckRow } from "../checks-store";
import { closing, type Heartbeat, type ProbeResult } from "../monitoring";
import { HELD, type NetworkWatch } from "./network";
import type { Prober } from "./prober";
import {
  type Job,
  type Missed,
  missedDeadline,
  receiveSignal,
  reportMessage,
  timeToCallAgain,
} from "./job";
import {
  countedResult,
  type Dependencies,
  hasFailed,
  type MonitorRegistry,
  type ScheduledMonitor,
} from "./registry";
import { type Begin, type ResultProcessor, type Waiter, Waiters } from "./results";
import type { CheckQueue, CheckScheduler } from "./scheduler";
import type { Stalls } from "./stalls";

/**
 * Longest wait for the answer to a requested check, shorter than the 75 s after which the server closes a
 * connection without traffic. A check with a timeout of a minute ends before; one with a longer timeout goes on.
 */
export const ANSWER_MAX_MS = 70 * SECOND_MS;

/** Time after a stall until its checks are repeated, in which what waited is read. */
const REPEAT_AFTER_MS = SECOND_MS;

interface RunnerDependencies {
  clock: Clock;
  isPrimary: () => boolean;
  prober: Prober;
  dependencies: Dependencies;
  registry: MonitorRegistry;
  queue: CheckQueue;
  scheduler: CheckScheduler;
  results: ResultProcessor;
  stalls: Stalls;
  network: NetworkWatch;
  /** Called when a check has an outcome, and before it counts. */
  onEnd: () => void;
  /** Called after a result was passed to the recorder. */
  onResult: () => void;
}

/** Runs checks, passes on their results and schedules the next check of each monitor. */
export class CheckRunner {
  readonly #deps: RunnerDependencies;
  readonly #waiters = new Waiters();
  /** Monitors whose check is repeated after a stall, and the recorders of their steps. The repetition counts. */
  readonly #repeated = new Map<ScheduledMonitor, StepRecorder | undefined>();
  /** Raised after the server was offline. */
  #epoch = 0;
  #isStopped = false;

  constructor(deps: RunnerDependencies) {
    this.#deps = deps;
  }

  /** Starts the checks that are due, if checks may begin. */
  beginDue(): void {
    const { clock, isPrimary, queue, results, scheduler } = this.#deps;
    if (!isPrimary() || this.#isStopped) return;
    const now = clock.monotonic();
    for (;;) {
      const next = queue.peek();
      if (!next || next.dueAt > now) return;
      if (scheduler.isTooEarly(next)) {
        scheduler.resume(next);
        continue;
      }
      results.figures.began(now - next.dueAt);
      void this.#run(next);
    }
  }

  /**
   * Checks a monitor now, unless a check of it runs, and records the steps. Resolves with the stored result, or
   * undefined if the monitor was paused or deleted meanwhile. A failure that still waits for parents after
   * `ANSWER_MAX_MS` is returned before it counts. Rejects with `unavailable` if there is no result by then.
   */
  async check(scheduled: ScheduledMonitor, steps?: StepRecorder): Promise<CheckRow | undefined> {
    if (this.#isStopped) throw closing();
    const waiter = this.#waiters.add(scheduled);
    if (!scheduled.isUnderWay) void this.#run(scheduled, steps);
    const timer = this.#deps.clock.after(ANSWER_MAX_MS, () => {
      if (scheduled.uncounted) waiter.resolve(scheduled.uncounted);
      else waiter.reject(unavailable("The check has no result yet. It is listed later.", 5));
    });
    try {
      return await waiter.promise;
    } finally {
      timer.cancel();
    }
  }

  /** Makes the check of a parent, for which others wait, begin as soon as there is a place for it. */
  request(parent: ScheduledMonitor): void {
    const { clock, queue } = this.#deps;
    if (parent.isUnderWay) return;
    const now = clock.monotonic();
    if (parent.heapIndex < 0 || parent.dueAt > now) queue.schedule(parent, now);
    this.beginDue();
  }

  /** Takes a monitor that was paused or deleted out of the queue, and checks those that it made unreachable. */
  drop(scheduled: ScheduledMonitor): void {
    this.#deps.queue.remove(scheduled);
    this.#repeated.delete(scheduled);
    // A check that is running ends by itself. One that is to be repeated will not begin.
    if (!scheduled.isUnderWay) this.#waiters.release(scheduled);
    this.#deps.dependencies.release(scheduled, false);
    this.#recheckThrough(scheduled);
  }

  /** Counts the report of a job, opens a run or keeps a message. Resolves when it is stored. */
  async receive(scheduled: ScheduledMonitor, job: Job, beat: Heartbeat, arrivedAt = Infinity) {
    const { results, scheduler, onResult } = this.#deps;
    if (beat.isFromOutside !== undefined) scheduled.callsFromOutside = beat.isFromOutside;
    const begin = results.beginAt(scheduled, arrivedAt);
    const waiter: Waiter = Promise.withResolvers();
    const signal = receiveSignal(job, scheduled.graceMs, beat, begin.at);
    if ("kind" in beat) {
      results.notice(scheduled, begin.at, signal, waiter);
      onResult();
      scheduler.resume(scheduled);
    } else {
      this.#deps.network.noteAnswer(scheduled);
      scheduled.heartbeatAt = begin.at;
      const report = { outcome: beat.outcome, latencyMs: signal.durationMs };
      const result = countedResult(scheduled, { ...report, message: reportMessage(beat) });
      this.#count("heartbeat", scheduled, begin, result, [waiter], signal);
      scheduler.reported(scheduled, job, begin.at);
    }
    await waiter.promise;
  }

  /** Discards the results of running checks, since the server was offline meanwhile. */
  discardRunning(): void {
    this.#epoch += 1;
  }

  /** Checks the monitors that are unreachable through one that no longer fails or was paused. */
  #recheckThrough(scheduled: ScheduledMonitor): void {
    for (const child of this.#deps.dependencies.unreachableThrough(scheduled))
      this.checkAgain(child);
  }

  /** Checks a monitor at once. The job of a push monitor, which may have called in vain, has time to call again. */
  checkAgain(scheduled: ScheduledMonitor): void {
    const delayMs = scheduled.type === "push" ? timeToCallAgain(scheduled) : 0;
    this.#deps.scheduler.after(scheduled, delayMs);
  }

  /** Drops running checks without a result, and begins no others. */
  stop(): void {
    this.#isStopped = true;
    this.#deps.prober.stop();
    this.#waiters.rejectAll(closing());
    this.#deps.dependencies.releaseAll();
  }

  /** Runs a check, counts or discards its result, and schedules the next one. Never rejects. */
  async #run(scheduled: ScheduledMonitor, ownSteps?: StepRecorder): Promise<void> {
    const { clock, dependencies, network, queue, registry, results, scheduler, stalls } =
      this.#deps;
    const isRepeated = this.#repeated.has(scheduled);
    const steps = ownSteps ?? this.#repeated.get(scheduled);
    this.#repeated.delete(scheduled);
    queue.begin(scheduled);
    const { version, heartbeatAt, job } = scheduled;
    const epoch = this.#epoch;
    const isKept = () => registry.ofNum(scheduled.num) === scheduled && !scheduled.isPaused;
    const isOutdated = () => version !== scheduled.version || epoch !== this.#epoch;
    const isCurrent = () => isKept() && !isOutdated() && scheduled.heartbeatAt === heartbeatAt;

    stalls.begin();
    const begin = results.begin(scheduled);
    const hasStalled = () => stalls.hasEndedSince(begin.startedAt);
    const isSpoiled = () => (job ? scheduler.isTooEarly(scheduled) : !isRepeated && hasStalled());
    const missed = job && missedDeadline(job, scheduled, clock);
    const own = await this.#probe(scheduled, begin.startedAt, { missed, steps });
    queue.free(
      scheduled,
      hasStalled() && !isRepeated ? undefined : clock.monotonic() - begin.startedAt,
    );
    if (this.#isStopped) return;
    this.#deps.onEnd();
    const canCount = () => isCurrent() && !isSpoiled();
    const isHeld = canCount() && (await this.#isHeld(scheduled, begin, own, missed));
    if (this.#isStopped) return;
    this.#deps.onEnd();
    if (isHeld) scheduled.heldFailure = own;
    const found = isHeld ? HELD : countedResult(scheduled, own);
    if (found.outcome === "failed" && !begin.isInMaintenance && canCount()) {
      const parents = dependencies.parentsToCheck(scheduled);
      if (parents.length > 0) {
        await this.#waitForParents(scheduled, begin, found, parents);
        if (this.#isStopped) return;
        this.#deps.onEnd();
      }
    }
    queue.end(scheduled);
    if (canCount()) {
      const waiters = this.#waiters.take(scheduled);
      const needsRecheck = this.#count("check", scheduled, begin, found, waiters);
      dependencies.release(scheduled, true);
      if (isHeld && !job) scheduler.after(scheduled, network.recheckMs(scheduled));
      else scheduler.next(scheduled, needsRecheck, begin.at);
    } else {
      this.#discardUncounted(scheduled);
      if (!isKept()) {
        steps?.discard();
        this.#waiters.release(scheduled);
        dependencies.release(scheduled, false);
      } else if (job) {
        // A deadline may have moved with a change, or while the server was offline. Otherwise the job has called
        // while the server checked its network, or may have called during a stall.
        if (isOutdated()) scheduler.first(scheduled);
        else scheduler.resume(scheduled);
      } else if (isSpoiled()) this.#repeatAfterStall(scheduled, steps);
      else {
        // A check that started before a change of its monitor, or before the server was offline, is repeated.
        steps?.discard();
        scheduler.after(scheduled, 0);
      }
    }
    this.beginDue();
  }

  /** Repeats a check that a stall may have spoiled. Callers that wait get its result. */
  #repeatAfterStall(scheduled: ScheduledMonitor, steps: StepRecorder | undefined): void {
    const { results, scheduler } = this.#deps;
    results.figures.discardedForStall();
    steps?.restart();
    this.#repeated.set(scheduled, steps);
    scheduler.after(scheduled, REPEAT_AFTER_MS);
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
    const { dependencies } = this.#deps;
    scheduled.uncounted = {
      monitorNum: scheduled.num,
      at: Math.round(at),
      outcome,
      latencyMs: latencyMs === null ? null : Math.round(latencyMs),
      message,
    };
    dependencies.release(scheduled, true);
    this.beginDue();
    await dependencies.check(scheduled, parents, startedAt);
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

  #probe(
    scheduled: ScheduledMonitor,
    startedAt: number,
    { missed, steps }: { missed: Missed | undefined; steps: StepRecorder | undefined },
  ): Promise<ProbeResult> {
    const { prober } = this.#deps;
    return missed ? prober.missHeartbeat(missed) : prober.find(scheduled, startedAt, steps);
  }

  /** Returns true if a result is held, since this server may have lost its network. May wait. */
  async #isHeld(
    scheduled: ScheduledMonitor,
    begin: Begin,
    result: ProbeResult,
    missed: Missed | undefined,
  ): Promise<boolean> {
    const { network, results } = this.#deps;
    if (result.outcome === "ok") network.noteAnswer(scheduled, result.contact);
    if (result.outcome !== "failed") return false;
    const wouldChange = results.wouldChange(scheduled, begin, countedResult(scheduled, result));
    return missed
      ? network.isMissHeld(scheduled, wouldChange)
      : network.isHeld(scheduled, result, begin.startedAt, wouldChange);
  }

  /**
   * Counts a result. Returns true if the next check should come sooner. Monitors that were unreachable
   * through a monitor that no longer fails are checked at once.
   */
  #count(...taken: Parameters<ResultProcessor["take"]>): boolean {
    const { results, onResult } = this.#deps;
    const [, scheduled] = taken;
    const hadFailed = hasFailed(scheduled);
    scheduled.uncounted = undefined;
    const needsRecheck = results.take(...taken);
    onResult();
    if (hadFailed && !hasFailed(scheduled)) this.#recheckThrough(scheduled);
    return needsRecheck;
  }
}
