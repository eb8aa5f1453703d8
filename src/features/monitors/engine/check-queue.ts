import { outgoingShare } from "../../../base/descriptors";
import { DueHeap } from "./due-heap";
import type { ScheduledMonitor } from "./scheduled-monitor";

/** Maximum number of concurrent checks. Others wait in the order of their due times. */
const UNDER_WAY_MAX = 256;
/** Greatest share of running checks that slow monitors may have. */
const SLOW_SHARE = 0.75;
const SLOW_MS = 1_000;

/**
 * Due checks in their order, and the places of those that run. A check has a place until it has a result; then
 * its monitor may stay under way, to wait for parents. Slow monitors have a heap of their own for fairness, not
 * for speed: targets that hang do not delay the checks of others.
 */
export class CheckQueue {
  readonly #quick = new DueHeap<ScheduledMonitor>();
  readonly #slow = new DueHeap<ScheduledMonitor>();
  readonly #max: number;
  #underWay = 0;
  #slowUnderWay = 0;

  constructor(max = outgoingShare(UNDER_WAY_MAX)) {
    this.#max = max;
  }

  /** Number of checks that have a place. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Adds a monitor whose check is not running, or moves it. */
  schedule(scheduled: ScheduledMonitor, dueAt: number): void {
    this.#laneOf(scheduled).schedule(scheduled, dueAt);
  }

  remove(scheduled: ScheduledMonitor): void {
    this.#laneOf(scheduled).remove(scheduled);
  }

  /** Returns the next due monitor that may start now. */
  peek(): ScheduledMonitor | undefined {
    if (this.#underWay >= this.#max) return undefined;
    const quick = this.#quick.peek();
    const slow =
      this.#slowUnderWay < Math.ceil(this.#max * SLOW_SHARE) ? this.#slow.peek() : undefined;
    if (!quick || !slow) return quick ?? slow;
    return slow.dueAt < quick.dueAt ? slow : quick;
  }

  /** Gives a place to a monitor whose check starts now, whether it was due or not. */
  begin(scheduled: ScheduledMonitor): void {
    this.remove(scheduled);
    scheduled.isUnderWay = true;
    this.#underWay += 1;
    if (scheduled.isSlow) this.#slowUnderWay += 1;
  }

  /** Frees the place of a check that has a result, so that others can start. `tookMs` is undefined if unknown. */
  free(scheduled: ScheduledMonitor, tookMs: number | undefined): void {
    this.#underWay -= 1;
    if (scheduled.isSlow) this.#slowUnderWay -= 1;
    if (tookMs !== undefined) scheduled.isSlow = tookMs >= SLOW_MS;
  }

  /** Ends a check, whose place is free. The monitor can be scheduled again. */
  end(scheduled: ScheduledMonitor): void {
    scheduled.isUnderWay = false;
  }

  #laneOf({ isSlow }: ScheduledMonitor): DueHeap<ScheduledMonitor> {
    return isSlow ? this.#slow : this.#quick;
  }
}
