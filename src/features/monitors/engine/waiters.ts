import type { CheckRow } from "../checks-store";
import type { Watched } from "./watched";

/** A caller that waits for a stored result; undefined if there will be none. */
export type Waiter = PromiseWithResolvers<CheckRow | undefined>;

/** Callers that wait for the next result of a monitor. */
export class Waiters {
  readonly #byMonitor = new Map<Watched, Waiter[]>();

  add(watched: Watched): Waiter {
    const waiter: Waiter = Promise.withResolvers();
    this.#byMonitor.set(watched, [...(this.#byMonitor.get(watched) ?? []), waiter]);
    return waiter;
  }

  /** Removes and returns the callers that wait for a monitor; undefined if there are none. */
  take(watched: Watched): Waiter[] | undefined {
    const waiters = this.#byMonitor.get(watched);
    this.#byMonitor.delete(watched);
    return waiters;
  }

  /** Resolves the callers that wait for a monitor with undefined. */
  release(watched: Watched): void {
    for (const waiter of this.take(watched) ?? []) waiter.resolve(undefined);
  }

  rejectAll(error: Error): void {
    for (const waiter of [...this.#byMonitor.values()].flat()) waiter.reject(error);
    this.#byMonitor.clear();
  }
}
