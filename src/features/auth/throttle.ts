import { LRUCache } from "lru-cache";
import type { AppContext } from "../../context";
import type { ClientAddress } from "../../kernel/client-address";
import { sha256Hex } from "../../kernel/hash";
import { addressNeighbourhood, BucketMap, type Decision } from "../limits";
import { whenAsked } from "../../kernel/when-asked";
import { FAILURES_KEPT_MS, loginDelayMs } from "./rules";

const ATTEMPTS_A_MINUTE = 10;
const REMEMBERED = 10_000;

/** More than one person signs in from one site, so it may do more than an address. */
const ATTEMPTS_OF_A_SITE = 5 * ATTEMPTS_A_MINUTE;

/**
 * Where attempts come from, as far as one person may hold many addresses: an IPv4 address, or an IPv6
 * /48, which is what a site is given (RFC 6177).
 */
export function signInSource({ network }: ClientAddress): string {
  return network.split(":", 3).join(":");
}

/**
 * Slows guessing of passwords, by the address that guesses and by the account that is guessed, whether
 * there is such an account or not. The more an account was failed on, from wherever, the longer each
 * source waits after a failure of its own: at most 30 seconds. So nobody can keep a user out by
 * failing from elsewhere, not even one who has mistyped.
 */
export interface LoginThrottle {
  /**
   * Takes one of the address's ten attempts a minute, and one of its site's fifty. Answers 0 when this attempt may be judged now,
   * else the whole seconds after which one would be.
   */
  judge(email: string, address: ClientAddress): number;
  /** An attempt that was judged had the wrong password, or there is no such account. */
  failed(email: string, address: ClientAddress): void;
  /** Somebody has signed in: the account's failures are forgotten. */
  succeeded(email: string, address: ClientAddress): void;
}

export function createLoginThrottle({ clock }: Pick<AppContext, "clock">): LoginThrottle {
  const attempts = (overflowLimit: number) =>
    whenAsked(
      () =>
        new BucketMap({
          clock,
          capacity: REMEMBERED,
          overflowLimit,
          neighbourhood: addressNeighbourhood,
        }),
    );
  const addresses = attempts(ATTEMPTS_A_MINUTE);
  const sites = attempts(ATTEMPTS_OF_A_SITE);
  const startedAt = clock.monotonic();
  const forgetful = {
    max: REMEMBERED,
    ttl: FAILURES_KEPT_MS,
    ttlResolution: 0,
    // The cache reads a start of 0 as "no time to live", so its time begins at 1.
    perf: { now: () => clock.monotonic() - startedAt + 1 },
  };
  /** How often an account was failed on. */
  const failures = whenAsked(() => new LRUCache<string, number>(forgetful));
  /** When a source last failed on an account, in monotonic milliseconds. */
  const lastFailures = whenAsked(() => new LRUCache<string, number>(forgetful));

  function accountDelayMs(account: string, source: string): number {
    const failedAt = lastFailures().get(pairOf(account, source));
    if (failedAt === undefined) return 0;
    const delayMs = loginDelayMs(failures().get(account) ?? 0);
    return Math.max(0, failedAt + delayMs - clock.monotonic());
  }

  return {
    judge(email, address) {
      const source = signInSource(address);
      const ofAddress = addresses().take(address.network, ATTEMPTS_A_MINUTE);
      const ofSite =
        source === address.network ? ofAddress : sites().take(source, ATTEMPTS_OF_A_SITE);
      const delayMs = accountDelayMs(accountOf(email), source);
      if (ofAddress.isAllowed && ofSite.isAllowed && delayMs === 0) return 0;
      // Who waits as told finds a token, also where this attempt has just taken the last one.
      const toNextToken = Math.max(secondsToToken(ofAddress), secondsToToken(ofSite));
      return Math.max(toNextToken, Math.ceil(delayMs / 1_000));
    },
    failed(email, address) {
      const account = accountOf(email);
      failures().set(account, (failures().get(account) ?? 0) + 1);
      lastFailures().set(pairOf(account, signInSource(address)), clock.monotonic());
    },
    succeeded(email, address) {
      const account = accountOf(email);
      failures().delete(account);
      lastFailures().delete(pairOf(account, signInSource(address)));
    },
  };
}

/** Seconds until a bucket has a whole token: a full one less the time that all the others take. */
function secondsToToken({ limit, fullInSeconds }: Decision): number {
  return Math.max(0, Math.ceil(fullInSeconds - ((limit - 1) * 60) / limit));
}

/** An account by a hash of fixed size, so that long texts that are no email take no memory. */
function accountOf(email: string): string {
  return sha256Hex(email.trim().toLowerCase());
}

function pairOf(account: string, source: string): string {
  return `${account} ${source}`;
}
