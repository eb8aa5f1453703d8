import { relayWaitMs } from "../rules";

/** Number of mails beyond which the oldest are forgotten. */
const MAILS_MAX = 1_000;

interface SetBack {
  count: number;
  /** Time of the next try (unix ms). */
  until: number;
}

/**
 * Mails whose tries were broken off since the relay last answered them. Their waits double, so that a mail at
 * which the relay always breaks off does not make it unavailable to all others.
 */
export class SetBacks {
  /** By id, the oldest first. */
  readonly #mails = new Map<string, SetBack>();

  /** Adds a mail whose try was broken off now. Returns the time of its next try. */
  add(id: string, now: number): number {
    const count = (this.#mails.get(id)?.count ?? 0) + 1;
    this.#mails.delete(id);
    for (const oldest of this.#mails.keys()) {
      if (this.#mails.size < MAILS_MAX) break;
      this.#mails.delete(oldest);
    }
    const until = now + relayWaitMs(count - 1);
    this.#mails.set(id, { count, until });
    return until;
  }

  has(id: string): boolean {
    return this.#mails.has(id);
  }

  isWaiting(id: string, now: number): boolean {
    return (this.#mails.get(id)?.until ?? 0) > now;
  }

  /** Returns the time at which the next mail has waited; infinity without one. */
  nextAfter(now: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { until } of this.#mails.values()) if (until > now) next = Math.min(next, until);
    return next;
  }

  delete(id: string): void {
    this.#mails.delete(id);
  }

  clear(): void {
    this.#mails.clear();
  }
}
