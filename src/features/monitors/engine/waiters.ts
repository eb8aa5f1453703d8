import type { CheckRow } from "../checks-store";
import type { ScheduledMonitor } from "./scheduled-monitor";

/** A caller that waits for a stored result; undefined if there will be none. */
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
