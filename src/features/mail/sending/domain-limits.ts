import { MINUTE_MS } from "../../../base/time";

/** Two refusals within this time limit a domain. */
const WITHIN_MS = MINUTE_MS;
const FIRST_MS = MINUTE_MS;
const LONGEST_MS = 15 * MINUTE_MS;
/** Number of domains beyond which old ones are forgotten. */
const LIMITED_DOMAINS_MAX = 1_000;

interface Refusals {
  lastAt: number;
  /** Duration of the last limit; 0 before the first. */
  limitMs: number;
  limitedUntil: number;
}

/**
 * Domains that get one connection for some time, since the relay refused mails to them for now. Times are those
 * of the monotonic clock, in ms.
 */
export class DomainLimits {
  readonly #refusals = new Map<string, Refusals>();

  /** Records a refusal for now. The second one within a minute limits the domain; further ones for longer. */
  add(domain: string, now: number): void {
    const earlier = this.#refusals.get(domain);
    this.#refusals.delete(domain);
    this.#forgetOld(now);
    const refusals = earlier ?? { lastAt: Number.NEGATIVE_INFINITY, limitMs: 0, limitedUntil: 0 };
    const isSecond = now - refusals.lastAt <= WITHIN_MS;
    refusals.lastAt = now;
    if (isSecond && now >= refusals.limitedUntil) {
      const isRepeated = now - refusals.limitedUntil <= LONGEST_MS && refusals.limitMs > 0;
      refusals.limitMs = isRepeated ? Math.min(2 * refusals.limitMs, LONGEST_MS) : FIRST_MS;
      refusals.limitedUntil = now + refusals.limitMs;
    }
    this.#refusals.set(domain, refusals);
  }

  isLimited(domain: string, now: number): boolean {
    return now < (this.#refusals.get(domain)?.limitedUntil ?? 0);
  }

  #forgetOld(now: number): void {
    if (this.#refusals.size < LIMITED_DOMAINS_MAX) return;
    for (const [domain, { lastAt, limitedUntil }] of this.#refusals) {
      if (Math.max(lastAt, limitedUntil) + LONGEST_MS < now) this.#refusals.delete(domain);
    }
  }
}
