import type { Clock } from "../../../kernel/clock";
import { HOUR_MS } from "../../../kernel/time";
import type { CheckRow } from "../checks-store";
import type { Heartbeat } from "../monitoring";
import type { ProbeResult } from "../probe";
import type { CheckQueue } from "./check-queue";
import type { CheckScheduler } from "./check-scheduler";
import { type Dependencies, hasFailed } from "./dependencies";
import type { MonitorRegistry } from "./monitor-registry";
import type { Prober } from "./prober";
import { closing } from "./recorder";
import { type ResultProcessor, type Waiter, Waiters } from "./result-processor";
import { countedResult, heartbeatExpectedSince, type ScheduledMonitor } from "./scheduled-monitor";

interface RunnerDependencies {
  clock: Clock;
  prober: Prober;
  dependencies: Dependencies;
  registry: MonitorRegistry;
  queue: CheckQueue;
  scheduler: CheckScheduler;
  results: ResultProcessor;
  /** Called when a check has ended, before its result counts. */
  onEnd: () => void;
  /** Called after a result was passed to the recorder. */
  onResult: () => void;
}

/** Runs checks, passes on their results and schedules the next check of each monitor. */
export class CheckRunner {
  readonly #deps: RunnerDependencies;
  readonly #waiters = new Waiters();
  /** Raised after the server was offline. */
  #epoch = 0;
  #isStopped = false;

  constructor(deps: RunnerDependencies) {
    this.#deps = deps;
  }

  /** Starts the checks that are due. */
  beginDue(): void {
    const { clock, queue, results } = this.#deps;
    const now = clock.monotonic();
    for (;;) {
      const next = queue.peek();
      if (!next || next.dueAt > now) return;
      results.figures.began(now - next.dueAt);
      this.#begin(next);
    }
  }

  /**
   * Checks a monitor now, unless a check of it runs. Resolves with the stored result; with undefined if
   * the monitor was paused or deleted meanwhile.
   */
  check(scheduled: ScheduledMonitor): Promise<CheckRow | undefined> {
    const waiter = this.#waiters.add(scheduled);
    if (!scheduled.isUnderWay) this.#begin(scheduled);
    return waiter.promise;
  }

  /** Counts the report of a job. Resolves when it is stored. */
  async countHeartbeat(scheduled: ScheduledMonitor, beat: Heartbeat): Promise<void> {
    const { results, scheduler } = this.#deps;
    const begin = results.begin(scheduled);
    scheduled.heartbeatAt = begin.at;
    const waiter: Waiter = Promise.withResolvers();
    this.#count("heartbeat", scheduled, begin, countedResult(scheduled, beat), [waiter]);
    scheduler.after(scheduled, scheduled.intervalMs + scheduled.graceMs);
    await waiter.promise;
  }

  /** Discards the results of running checks, since the server was offline meanwhile. */
  discardRunning(): void {
    this.#epoch += 1;
  }

  /**
   * Checks the monitors that are unreachable through one that no longer fails or was paused. A job may have
   * called in vain, so it first has time to call again.
   */
  recheckThrough(scheduled: ScheduledMonitor): void {
    const { dependencies, scheduler } = this.#deps;
    for (const child of dependencies.unreachableThrough(scheduled)) {
      const { type, intervalMs, graceMs } = child;
      scheduler.after(child, type === "push" ? Math.min(intervalMs, HOUR_MS) + graceMs : 0);
    }
  }

  /** Aborts running checks without a result. */
  stop(): void {
    this.#isStopped = true;
    this.#deps.prober.abort();
    this.#waiters.rejectAll(closing());
  }

  #begin(scheduled: ScheduledMonitor): void {
    this.#deps.queue.begin(scheduled);
    void this.#run(scheduled);
  }

  async #run(scheduled: ScheduledMonitor): Promise<void> {
    const { clock, queue, registry, results, scheduler } = this.#deps;
    const { version, heartbeatAt } = scheduled;
    const epoch = this.#epoch;
    const begin = results.begin(scheduled);
    const { startedAt } = begin;
    const found = countedResult(scheduled, await this.#probe(scheduled, startedAt));
    const tookMs = clock.monotonic() - startedAt;
    const isCounted = found.outcome === "failed" && !begin.isInMaintenance;
    if (isCounted && scheduled.parents.length > 0) {
      await this.#deps.dependencies.checkParents(scheduled, startedAt);
    }
    queue.end(scheduled, tookMs);
    if (this.#isStopped) return;
    this.#deps.onEnd();
    const isScheduled = registry.ofNum(scheduled.num) === scheduled && !scheduled.isPaused;
    // A check that started before a change of its monitor, or before the server was offline, is
    // discarded.
    const isOutdated = version !== scheduled.version || epoch !== this.#epoch;
    if (!isScheduled) this.#waiters.release(scheduled);
    else if (isOutdated && scheduled.type !== "push") scheduler.after(scheduled, 0);
    // The job may have called while the server checked its network.
    else if (isOutdated || scheduled.heartbeatAt !== heartbeatAt) scheduler.first(scheduled);
    else {
      const waiters = this.#waiters.take(scheduled);
      const needsRecheck = this.#count("check", scheduled, begin, found, waiters);
      scheduler.next(scheduled, needsRecheck);
    }
    this.beginDue();
  }

  #probe(scheduled: ScheduledMonitor, startedAt: number): Promise<ProbeResult> {
    const { prober } = this.#deps;
    return scheduled.type === "push"
      ? prober.missHeartbeat(heartbeatExpectedSince(scheduled, startedAt))
      : prober.find(scheduled, startedAt);
  }

  /**
   * Counts a result. Returns true if the next check should come sooner. Monitors that were unreachable
   * through a monitor that no longer fails are checked at once.
   */
  #count(...taken: Parameters<ResultProcessor["take"]>): boolean {
    const { results, onResult } = this.#deps;
    const [, scheduled] = taken;
    const hadFailed = hasFailed(scheduled);
    const needsRecheck = results.take(...taken);
    onResult();
    if (hadFailed && !hasFailed(scheduled)) this.recheckThrough(scheduled);
    return needsRecheck;
  }
}
