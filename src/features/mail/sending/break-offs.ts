import { relayWaitMs } from "../rules";

/** Number of mails, and of domains, beyond which the oldest are forgotten. */
const KEPT_MAX = 1_000;

/** A mail, or the mails to one domain, at which the relay broke off. */
interface BrokenOff {
  count: number;
  /** Time of the last break-off. */
  at: number;
  /** Time of the next try. */
  until: number;
}

/** Meaning of a break-off for all mails. */
export type RelaySuspicion =
  /** Only the mail waits, or the mails to its domain. */
  | "none"
  /** The relay answered no mail since an earlier break-off, but other domains were not tried. */
  | "unanswered"
  /** The relay broke off at mails to two domains, and answered none between. */
  | "anywhere";

/**
 * Mails at which the relay broke off, and their domains. Each such mail waits, twice as long after each try. The
 * first try of a mail tells also about its domain, and about the relay: a domain gets one connection until the relay
 * answers a mail to it, and waits if there is a second break-off before. Later tries of the mail tell nothing new.
 * Times are steady unix ms.
 */
export class BreakOffs {
  /** By id, the oldest first. */
  readonly #mails = new Map<string, BrokenOff>();
  /** Domains without an answer since a first break-off, the oldest first. */
  readonly #domains = new Map<string, BrokenOff>();
  /** Domains with first break-offs since the last answer to any mail. */
  readonly #inRow = new Set<string>();
  #lastAnswer = Number.NEGATIVE_INFINITY;

  /** Number of mails that wait, or have waited and are to be tried again. */
  get size(): number {
    return this.#mails.size;
  }

  /** Adds a break-off that happened now. Those while a domain waits share its wait. */
  add({ id, domain }: { id: string; domain: string }, now: number): RelaySuspicion {
    const earlier = this.#mails.get(id);
    put(this.#mails, id, afterNext(earlier, now, 0));
    if (earlier) return this.#isUnanswered(earlier) ? "unanswered" : "none";
    const before = this.#domains.get(domain);
    if (!before || now >= before.until) put(this.#domains, domain, afterNext(before, now, 1));
    this.#inRow.add(domain);
    if (this.#inRow.size > 1) return "anywhere";
    return before && this.#isUnanswered(before) ? "unanswered" : "none";
  }

  #isUnanswered({ at }: BrokenOff): boolean {
    return this.#lastAnswer < at;
  }

  /** Records that the relay answered a mail to a domain. One that began before a break-off proves nothing about it. */
  answer(domain: string, begunAt: number): void {
    this.#lastAnswer = Math.max(this.#lastAnswer, begunAt);
    this.#inRow.clear();
    const at = this.#domains.get(domain)?.at;
    if (at !== undefined && at <= begunAt) this.#domains.delete(domain);
  }

  isSetBack(id: string): boolean {
    return this.#mails.has(id);
  }

  isWaiting(id: string, now: number): boolean {
    return (this.#mails.get(id)?.until ?? 0) > now;
  }

  /** True if a domain gets one connection. */
  isInDoubt(domain: string): boolean {
    return this.#domains.has(domain);
  }

  /** True if no mail to a domain may start. */
  isDomainWaiting(domain: string, now: number): boolean {
    return (this.#domains.get(domain)?.until ?? 0) > now;
  }

  /** Returns the time at which the next mail or domain has waited; infinity without one. */
  nextAfter(now: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (const waiting of [this.#mails, this.#domains]) {
      for (const { until } of waiting.values()) if (until > now) next = Math.min(next, until);
    }
    return next;
  }

  /** Forgets a mail whose result is recorded. */
  delete(id: string): void {
    this.#mails.delete(id);
  }

  clear(): void {
    this.#mails.clear();
    this.#domains.clear();
    this.#inRow.clear();
  }
}

/** Returns the entry after one more break-off. The first `free` ones cause no wait. */
function afterNext(before: BrokenOff | undefined, now: number, free: number): BrokenOff {
  const count = (before?.count ?? 0) + 1;
  return { count, at: now, until: count > free ? now + relayWaitMs(count - free - 1) : now };
}

/** Sets an entry and moves it to the end. */
function put(entries: Map<string, BrokenOff>, key: string, entry: BrokenOff): void {
  entries.delete(key);
  for (const oldest of entries.keys()) {
    if (entries.size < KEPT_MAX) break;
    entries.delete(oldest);
  }
  entries.set(key, entry);
}
