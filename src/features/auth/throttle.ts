/*
 * Limits of sign-ins, by address and by account.
 */
import { LRUCache } from "lru-cache";
import { type ClientAddress, parseClientAddress, siteOf } from "../../base/client-address";
import { sha256Hex } from "../../base/hash";
import { lazy } from "../../base/lazy";
import { plural } from "../../base/text";
import { MINUTE_MS } from "../../base/time";
import type { Ctx } from "../../context";
import { BucketMap } from "../limits/limiter";
import type { Turn } from "./passwords";
import { FAILURES_KEPT_MS, loginDelayMs } from "./rules";
import { listRecentAddresses } from "./store";

const ATTEMPTS_A_MINUTE = 10;
const REMEMBERED = 10_000;

/** Limit of a site, which is higher than that of an address since a site can have several users. */
const ATTEMPTS_OF_A_SITE = 5 * ATTEMPTS_A_MINUTE;

/**
 * Slows guessing of passwords by address and by account, whether the account exists or not. The
 * more failures an account had from anywhere, the longer each source waits after a failure of its
 * own, at most 30 seconds. So failures from elsewhere cannot lock a user out.
 */
export interface LoginThrottle {
  /**
   * Takes one of the address's ten attempts a minute and one of its site's fifty. Returns 0 on
   * success, else the whole seconds to wait. Needs no body, so that a rejection is cheap.
   */
  takeAttempt(address: ClientAddress): number;
  /** Returns 0 when an attempt on the account may be verified now, else the whole seconds to wait. */
  accountWaitSeconds(email: string, address: ClientAddress): number;
  /**
   * Returns the turn of a verification. Sources that have signed in before come first, then those with
   * the fewest attempts; attempts are forgotten 15 minutes after a source's last one.
   */
  turnOf(address: ClientAddress): Turn;
  /** Records a failed attempt: a wrong password or an unknown account. */
  failed(email: string, address: ClientAddress): void;
  /** Records a successful sign-in, which resets the account's failures. */
  succeeded(email: string, address: ClientAddress): void;
}

export function createLoginThrottle(ctx: Ctx): LoginThrottle {
  const { clock } = ctx;
  const knownSources = createKnownSources(ctx);
  const createBuckets = (limit: number) =>
    lazy(() => new BucketMap({ ...ctx, capacity: REMEMBERED, overflowLimit: limit }));
  const addressBuckets = createBuckets(ATTEMPTS_A_MINUTE);
  const siteBuckets = createBuckets(ATTEMPTS_OF_A_SITE);
  const startedAt = clock.monotonic();
  const expiringCacheOptions = {
    max: REMEMBERED,
    ttl: FAILURES_KEPT_MS,
    ttlResolution: 0,
    // The cache reads a start of 0 as "no time to live", so its time begins at 1.
    perf: { now: () => clock.monotonic() - startedAt + 1 },
  };
  /** Number of failed attempts by account. */
  const failures = lazy(() => new LRUCache<string, number>(expiringCacheOptions));
  /** Attempts of each site, refused ones included. */
  const attemptsBySite = lazy(() => new LRUCache<string, number>(expiringCacheOptions));
  /** Time of a source's last failed attempt on an account, in monotonic milliseconds. */
  const lastFailures = lazy(() => new LRUCache<string, number>(expiringCacheOptions));

  function accountDelayMs(account: string, source: string): number {
    const failedAt = lastFailures().get(pairOf(account, source));
    if (failedAt === undefined) return 0;
    const delayMs = loginDelayMs(failures().get(account) ?? 0);
    return Math.max(0, failedAt + delayMs - clock.monotonic());
  }

  /** Returns the seconds until an address and its site have an attempt: 0 if both have one. */
  function attemptWaitSeconds(address: ClientAddress): number {
    const site = siteOf(address);
    return Math.max(
      addressBuckets().waitSeconds(address.network, ATTEMPTS_A_MINUTE),
      site === address.network ? 0 : siteBuckets().waitSeconds(site, ATTEMPTS_OF_A_SITE),
    );
  }

  return {
    takeAttempt(address) {
      const site = siteOf(address);
      attemptsBySite().set(site, (attemptsBySite().get(site) ?? 0) + 1);
      const isAllowed =
        addressBuckets().take(address.network, ATTEMPTS_A_MINUTE).isAllowed &&
        // Refused attempts of one address do not use up the site's.
        (site === address.network || siteBuckets().take(site, ATTEMPTS_OF_A_SITE).isAllowed);
      return isAllowed ? 0 : attemptWaitSeconds(address);
    },
    accountWaitSeconds(email, address) {
      const seconds = Math.ceil(accountDelayMs(accountOf(email), siteOf(address)) / 1_000);
      // The address must also have an attempt left after the wait.
      return seconds === 0 ? 0 : Math.max(seconds, attemptWaitSeconds(address));
    },
    turnOf(address) {
      if (knownSources.has(address)) return { source: address.network, rank: () => 0 };
      const site = siteOf(address);
      return { source: site, rank: () => 1 + (attemptsBySite().get(site) ?? 0) };
    },
    failed(email, address) {
      const account = accountOf(email);
      const site = siteOf(address);
      failures().set(account, (failures().get(account) ?? 0) + 1);
      lastFailures().set(pairOf(account, site), clock.monotonic());
    },
    succeeded(email, address) {
      const account = accountOf(email);
      failures().delete(account);
      lastFailures().delete(pairOf(account, siteOf(address)));
      knownSources.add(address);
    },
  };
}

/** Returns the sentence for a sign-in or a password check that was attempted too often. */
export function waitText(seconds: number): string {
  return `Too many attempts. Wait ${plural(seconds, "second")}, then try again.`;
}

/** Returns a hash of the email, so that long texts take no memory. */
function accountOf(email: string): string {
  return sha256Hex(email.trim().toLowerCase());
}

function pairOf(account: string, source: string): string {
  return `${account} ${source}`;
}

const NETWORKS_REMEMBERED = 1_000;
const REFRESH_INTERVAL_MS = MINUTE_MS;

/** Networks from which users have signed in, in memory only. */
interface KnownSources {
  has(address: ClientAddress): boolean;
  add(address: ClientAddress): void;
}

/**
 * Remembers at most 1,000 networks. They are read from stored sessions at most once a minute, so a
 * restart forgets only networks whose sessions have ended.
 */
function createKnownSources({ clock, db }: Ctx): KnownSources {
  const networks = lazy(() => new LRUCache<string, true>({ max: NETWORKS_REMEMBERED }));
  let readAt = Number.NEGATIVE_INFINITY;

  function refresh(): void {
    const now = clock.monotonic();
    if (now - readAt < REFRESH_INTERVAL_MS) return;
    readAt = now;
    for (const { ip } of listRecentAddresses(db, { limit: NETWORKS_REMEMBERED }).reverse()) {
      const address = parseClientAddress(ip);
      if (address) networks().set(address.network, true);
    }
  }

  return {
    has({ network }) {
      refresh();
      return networks().has(network);
    },
    add({ network }) {
      networks().set(network, true);
    },
  };
}
