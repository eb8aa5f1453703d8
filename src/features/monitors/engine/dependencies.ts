import type { Clock } from "../../../base/clock";
import { SECOND_MS } from "../../../base/time";
import { isFailing } from "../rules";
import type { MonitorRegistry } from "./monitor-registry";
import type { ScheduledMonitor } from "./scheduled-monitor";

/**
 * Shortest limit of the wait for the checks of parents, after which a failure counts by what is known of them.
 * Two checks of a parent fit into the wait: one that was running and may have begun too early, and the next one.
 */
const PARENTS_MIN_MS = 150 * SECOND_MS;
/** Time of two checks beyond their timeouts: their end, and the look at the reference targets. */
const BEYOND_TIMEOUTS_MS = 30 * SECOND_MS;

/**
 * Dependencies of monitors on others, their parents. A paused or deleted parent is none.
 *
 * A parent counts as failing as soon as a check of it has failed, even while that failure waits for the
 * parent's own parents. So a monitor waits for checks only and never for another wait: waits do not add up in
 * a chain. What is known when the wait ends counts. A later answer of a parent counts with the next check.
 */
export class Dependencies {
  readonly #clock: Clock;
  readonly #registry: MonitorRegistry;
  readonly #requestCheck: (parent: ScheduledMonitor) => void;
  /** Resolve with true when a check of the parent has an outcome, with false if there will be none. */
  readonly #awaited = new Map<ScheduledMonitor, PromiseWithResolvers<boolean>>();
  /** End the waits of monitors for their parents. */
  readonly #ends = new Map<ScheduledMonitor, () => void>();

  /** `requestCheck` makes a parent's check begin as soon as it can, unless one is running. */
  constructor(
    clock: Clock,
    registry: MonitorRegistry,
    requestCheck: (parent: ScheduledMonitor) => void,
  ) {
    this.#clock = clock;
    this.#registry = registry;
    this.#requestCheck = requestCheck;
  }

  /** Returns the id of the first failing parent. */
  failingParentOf(scheduled: ScheduledMonitor): string | undefined {
    return this.#parentsOf(scheduled).find(hasFailed)?.id;
  }

  /** Returns the ids of the parents whose check has failed, and is not counted yet. */
  uncountedParentsOf(scheduled: ScheduledMonitor): string[] {
    return this.#parentsOf(scheduled)
      .filter(({ uncounted }) => uncounted !== undefined)
      .map(({ id }) => id);
  }

  /**
   * Returns the parents to check before a failure of a monitor counts: none if it is down already or a parent
   * is known to fail. Push monitors cannot be checked.
   */
  parentsToCheck(scheduled: ScheduledMonitor): ScheduledMonitor[] {
    if (scheduled.evaluation.state === "down" || this.failingParentOf(scheduled)) return [];
    return this.#parentsOf(scheduled).filter(({ type }) => type !== "push");
  }

  /**
   * Checks parents of a monitor. A check that began after `startedAt` (monotonic clock) is not repeated, so
   * that one is enough for many monitors. Never rejects.
   */
  async check(
    scheduled: ScheduledMonitor,
    parents: readonly ScheduledMonitor[],
    startedAt: number,
  ): Promise<void> {
    const { promise: end, resolve } = Promise.withResolvers<void>();
    const longestMs = Math.max(...parents.map(({ timeoutMs }) => timeoutMs));
    const limitMs = Math.max(PARENTS_MIN_MS, 2 * longestMs + BEYOND_TIMEOUTS_MS);
    const timer = this.#clock.after(limitMs, resolve);
    this.#ends.set(scheduled, resolve);
    const checks = parents.map((parent) => this.#checkSince(parent, startedAt));
    await Promise.race([Promise.all(checks), end]);
    this.#ends.delete(scheduled);
    timer.cancel();
  }

  /** Ends the wait of a monitor for its parents, if any: it was changed, so its failure will not count. */
  endWait(scheduled: ScheduledMonitor): void {
    this.#ends.get(scheduled)?.();
  }

  /**
   * Continues the monitors that wait for a check of a parent. `hasOutcome` is false if the parent was paused
   * or deleted.
   */
  release(parent: ScheduledMonitor, hasOutcome: boolean): void {
    this.#awaited.get(parent)?.resolve(hasOutcome);
    this.#awaited.delete(parent);
  }

  /** Continues all waiting monitors. */
  releaseAll(): void {
    for (const parent of this.#awaited.keys()) this.release(parent, false);
  }

  /** Returns the unreachable monitors that depend on a monitor. */
  unreachableThrough({ id }: ScheduledMonitor): ScheduledMonitor[] {
    return this.#registry
      .dependentsOf(id)
      .filter(({ evaluation, isPaused }) => evaluation.state === "unreachable" && !isPaused);
  }

  async #checkSince(parent: ScheduledMonitor, startedAt: number): Promise<void> {
    // A check that was running when the other one began may have succeeded before.
    const isKnown = () => hasFailed(parent) || (parent.lastStartedAt ?? -Infinity) >= startedAt;
    while (!isKnown() && (await this.#nextOutcome(parent)));
  }

  #nextOutcome(parent: ScheduledMonitor): Promise<boolean> {
    const awaited = this.#awaited.get(parent) ?? Promise.withResolvers<boolean>();
    this.#awaited.set(parent, awaited);
    this.#requestCheck(parent);
    return awaited.promise;
  }

  #parentsOf({ parents }: ScheduledMonitor): ScheduledMonitor[] {
    return parents
      .map((id) => this.#registry.find(id))
      .filter((parent) => parent !== undefined && !parent.isPaused) as ScheduledMonitor[];
  }
}

/** Returns true if a monitor is failing by the results of this process. */
export function hasFailed({ evaluation, lastOutcome, uncounted }: ScheduledMonitor): boolean {
  return uncounted !== undefined || isFailing(evaluation, lastOutcome);
}
