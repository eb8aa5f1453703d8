import { LRUCache } from "lru-cache";
import type { AppContext } from "../../context";
import type { ClientAddress } from "../../kernel/client-address";
import { sha256Hex } from "../../kernel/hash";
import { BucketMap } from "../limits";
import { FAILURES_KEPT_MS, loginDelayMs } from "./rules";

const ATTEMPTS_A_MINUTE = 10;
/** A bucket is full this long after it has one token. */
const REFILL_BUT_ONE_SECONDS = ((ATTEMPTS_A_MINUTE - 1) * 60) / ATTEMPTS_A_MINUTE;
const REMEMBERED = 10_000;

/**
 * Slows guessing of passwords, by the address that guesses and by the account that is guessed, whether
 * there is such an account or not. The more an account was failed on, from wherever, the longer each
 * network waits after a failure of its own: at most 30 seconds. So nobody can keep a user out by
 * failing from elsewhere, not even one who has mistyped.
 */
export interface LoginThrottle {
  /**
   * Takes one of the address's ten attempts a minute. Answers 0 when this attempt may be judged now,
   * else the whole seconds after which one would be.
   */
  judge(email: string, address: ClientAddress): number;
  /** An attempt that was judged had the wrong password, or there is no such account. */
  failed(email: string, address: ClientAddress): void;
  /** Somebody has signed in: the account's failures are forgotten. */
  succeeded(email: string, address: ClientAddress): void;
}

export function createLoginThrottle({ clock }: Pick<AppContext, "clock">): LoginThrottle {
  const addresses = new BucketMap({
    clock,
    capacity: REMEMBERED,
    overflowLimit: ATTEMPTS_A_MINUTE,
    neighbourhood: (network) => network.split(/[.:]/, 2).join(),
  });
  const startedAt = clock.monotonic();
  const forgetful = {
    max: REMEMBERED,
    ttl: FAILURES_KEPT_MS,
    ttlResolution: 0,
    // The cache reads a start of 0 as "no time to live", so its time begins at 1.
    perf: { now: () => clock.monotonic() - startedAt + 1 },
  };
  /** How often an account was failed on. */
  const failures = new LRUCache<string, number>(forgetful);
  /** When a network last failed on an account, in monotonic milliseconds. */
  const lastFailures = new LRUCache<string, number>(forgetful);

  function accountDelayMs(account: string, network: string): number {
    const failedAt = lastFailures.get(pairOf(account, network));
    if (failedAt === undefined) return 0;
    const delayMs = loginDelayMs(failures.get(account) ?? 0);
    return Math.max(0, failedAt + delayMs - clock.monotonic());
  }

  return {
    judge(email, { network }) {
      const { isAllowed, fullInSeconds } = addresses.take(network, ATTEMPTS_A_MINUTE);
      const delayMs = accountDelayMs(accountOf(email), network);
      if (isAllowed && delayMs === 0) return 0;
      const toNextToken = Math.max(0, fullInSeconds - REFILL_BUT_ONE_SECONDS);
      return Math.max(toNextToken, Math.ceil(delayMs / 1_000));
    },
    failed(email, { network }) {
      const account = accountOf(email);
      failures.set(account, (failures.get(account) ?? 0) + 1);
      lastFailures.set(pairOf(account, network), clock.monotonic());
    },
    succeeded(email, { network }) {
      const account = accountOf(email);
      failures.delete(account);
      lastFailures.delete(pairOf(account, network));
    },
  };
}

/** An account by a hash of fixed size, so that long texts that are no email take no memory. */
function accountOf(email: string): string {
  return sha256Hex(email.trim().toLowerCase());
}

function pairOf(account: string, network: string): string {
  return `${account} ${network}`;
}
