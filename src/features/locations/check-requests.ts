/* Checks that users want at once, on their way to the agents of locations and back. */
import type { Clock, Timer } from "../../base/clock";
import { type Problem, unavailable } from "../../base/errors";
import type { CheckOutcome } from "../../base/status";
import { SECOND_MS } from "../../base/time";
import type { Step } from "../../egress/steps";

/** Longest wait for an answer, as for a check of this server. */
const ANSWER_MAX_MS = 70 * SECOND_MS;

/** A check that a user wants at once, as an agent gets it. */
export interface CheckRequest {
  id: string;
  monitor_id: string;
  /** True to record its steps. */
  steps: boolean;
}

/** Requests that wait for one location. */
export const REQUESTS_MAX = 100;

const CLOSING = "The server is shutting down.";

/** Result of a requested check at a location. Times in unix ms. */
interface CheckRequestResult {
  check: { at: number; outcome: CheckOutcome; latencyMs: number | null; message: string | null };
  steps: readonly Step[];
}

interface Pending extends PromiseWithResolvers<CheckRequestResult> {
  locationId: string;
  request: CheckRequest;
  timer: Timer;
}

/** Requests that wait for the agents of locations. */
export class CheckRequests {
  readonly #clock: Clock;
  readonly #pending = new Map<string, Pending>();
  readonly #listeners: ((locationId: string) => void)[] = [];
  /** Differs from that of an earlier process, whose requests an agent may still answer. */
  readonly #beginning: string;
  #count = 0;
  #isStopped = false;
  /** Called at the stop. */
  onStop: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#beginning = `chk_${clock.now().toString(36)}_`;
  }

  /**
   * Asks for a check. Resolves when its result is stored. Rejects with `unavailable` after 70 seconds, at a stop, if too
   * many wait, and with the reason of an agent that cannot make it.
   */
  request(locationId: string, monitorId: string, wantsSteps: boolean): Promise<CheckRequestResult> {
    if (this.#isStopped) return Promise.reject(unavailable(CLOSING, 5));
    if (this.pendingOf(locationId).length >= REQUESTS_MAX) {
      return Promise.reject(unavailable("Too many checks wait for this location. Try again.", 5));
    }
    const id = this.#beginning + (++this.#count).toString(36);
    const request = { id, monitor_id: monitorId, steps: wantsSteps };
    const timer = this.#clock.after(ANSWER_MAX_MS, () => {
      this.#reject(id, unavailable("The location has sent no result yet. It is listed later.", 5));
    });
    const pending = { locationId, request, timer, ...Promise.withResolvers<CheckRequestResult>() };
    this.#pending.set(id, pending);
    for (const listener of this.#listeners) listener(locationId);
    return pending.promise;
  }

  /** Returns the requests that wait for a location, oldest first. */
  pendingOf(locationId: string): readonly CheckRequest[] {
    const own = [...this.#pending.values()].filter((each) => each.locationId === locationId);
    return own.map(({ request }) => request);
  }

  /** Calls a function with the id of the location of each new request. */
  onRequest(listener: (locationId: string) => void): void {
    this.#listeners.push(listener);
  }

  /** Answers a request. One that is over, or of another location or monitor, is ignored. */
  settle(
    locationId: string,
    id: string,
    outcome: Problem | (CheckRequestResult & { monitorId: string }),
  ): void {
    const pending = this.#pending.get(id);
    if (pending?.locationId !== locationId) return;
    if (outcome instanceof Error) this.#reject(id, outcome);
    else if (outcome.monitorId === pending.request.monitor_id) this.#take(id)?.resolve(outcome);
  }

  /** Ends all requests. */
  stop(): void {
    this.#isStopped = true;
    for (const id of this.#pending.keys()) this.#reject(id, unavailable(CLOSING, 5));
    this.onStop?.();
  }

  #reject(id: string, error: Error): void {
    this.#take(id)?.reject(error);
  }

  #take(id: string): Pending | undefined {
    const pending = this.#pending.get(id);
    pending?.timer.cancel();
    this.#pending.delete(id);
    return pending;
  }
}
