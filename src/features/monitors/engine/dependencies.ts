import type { Clock } from "../../../kernel/clock";
import { MINUTE_MS } from "../../../kernel/time";
import { isFailing } from "../rules";
import type { MonitorRegistry } from "./monitor-registry";
import type { ScheduledMonitor } from "./scheduled-monitor";

/** Runs a check of a monitor, or waits for the one that runs. Resolves with false if there is no result. */
type RunCheck = (scheduled: ScheduledMonitor) => Promise<boolean>;

/** Longest wait for the checks of parents, after which a failure counts by what is known of them. */
const WAIT_MAX_MS = 2 * MINUTE_MS;

/** Dependencies of monitors on others, their parents. A paused or deleted parent is none. */
export class Dependencies {
  readonly #clock: Clock;
  readonly #registry: MonitorRegistry;
  readonly #runCheck: RunCheck;

  constructor(clock: Clock, registry: MonitorRegistry, runCheck: RunCheck) {
    this.#clock = clock;
    this.#registry = registry;
    this.#runCheck = runCheck;
  }

  /** Returns the id of the first failing parent. */
  failingParentOf(scheduled: ScheduledMonitor): string | undefined {
    return this.#parentsOf(scheduled).find(hasFailed)?.id;
  }

  /**
   * Checks the parents of a monitor whose check has failed, unless one is known to fail. A check of a parent
   * that began after `startedAt` (monotonic clock) is not repeated, so that one is enough for many monitors.
   * Push monitors cannot be checked. Nothing is checked for a monitor that is down already. Never rejects.
   */
  async checkParents(scheduled: ScheduledMonitor, startedAt: number): Promise<void> {
    if (scheduled.evaluation.state === "down" || this.failingParentOf(scheduled)) return;
    const active = this.#parentsOf(scheduled).filter(({ type }) => type !== "push");
    if (active.length === 0) return;
    const { promise: deadline, resolve } = Promise.withResolvers<void>();
    const timer = this.#clock.after(WAIT_MAX_MS, resolve);
    const checks = active.map((parent) => this.#checkSince(parent, startedAt));
    await Promise.race([Promise.all(checks), deadline]);
    timer.cancel();
  }

  async #checkSince(parent: ScheduledMonitor, startedAt: number): Promise<void> {
    // A check that was running when the other one began may have succeeded before.
    while ((parent.lastStartedAt ?? Number.NEGATIVE_INFINITY) < startedAt) {
      if (!(await this.#runCheck(parent))) return;
    }
  }

  /** Returns the unreachable monitors that depend on a monitor. */
  unreachableThrough({ id }: ScheduledMonitor): ScheduledMonitor[] {
    return this.#registry
      .dependentsOf(id)
      .filter(({ evaluation, isPaused }) => evaluation.state === "unreachable" && !isPaused);
  }

  #parentsOf({ parents }: ScheduledMonitor): ScheduledMonitor[] {
    return parents
      .map((id) => this.#registry.find(id))
      .filter((parent) => parent !== undefined && !parent.isPaused) as ScheduledMonitor[];
  }
}

/** Returns true if a monitor is failing by the results of this process. */
export function hasFailed({ evaluation, lastOutcome }: ScheduledMonitor): boolean {
  return isFailing(evaluation, lastOutcome);
}
