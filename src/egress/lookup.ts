import { dns as bunDns } from "bun";
import { promises as dns } from "node:dns";
import type { Clock } from "../kernel/clock";
import { ABORTED, codeOf, untilAborted } from "./fault";
import type { IpFamily } from "./model";

/** Resolves a name to its addresses. Rejects if there are none, or no resolver answers. */
export type Lookup = (name: string, family: IpFamily | undefined) => Promise<string[]>;

/** A look-up that is waiting or under way. */
interface PendingLookup {
  addresses: Promise<string[]>;
  start(): Promise<void>;
  /** Number of callers that wait for the result. */
  callers: number;
}

export type BoundedLookup = (
  name: string,
  family: IpFamily | undefined,
  signal: AbortSignal,
) => Promise<string[] | typeof ABORTED>;

/**
 * Limits the number of simultaneous look-ups, since none can be interrupted. A waiting one can: it is
 * dropped when the signals of all its callers have aborted. Callers with the same question share the result.
 */
export function boundedLookup(lookup: Lookup, concurrency: number): BoundedLookup {
  const pending = new Map<string, PendingLookup>();
  const waiting = new Set<PendingLookup>();
  let underWay = 0;

  function createPending(key: string, name: string, family: IpFamily | undefined): PendingLookup {
    const { promise, resolve } = Promise.withResolvers<string[]>();
    return {
      addresses: promise,
      callers: 0,
      async start() {
        underWay += 1;
        const result = lookup(name, family);
        resolve(result);
        await result.catch(() => undefined);
        underWay -= 1;
        pending.delete(key);
        startNext();
      },
    };
  }

  function startNext(): void {
    for (const next of waiting) {
      if (underWay >= concurrency) return;
      waiting.delete(next);
      void next.start();
    }
  }

  return async (name, family, signal) => {
    const key = `${family ?? 0} ${name}`;
    let entry = pending.get(key);
    if (!entry) {
      entry = createPending(key, name, family);
      pending.set(key, entry);
      waiting.add(entry);
    }
    entry.callers += 1;
    startNext();
    const result = await untilAborted(entry.addresses, signal);
    entry.callers -= 1;
    if (entry.callers === 0 && waiting.delete(entry)) pending.delete(key);
    return result;
  };
}

/** The two resolvers of this machine. */
interface SystemResolvers {
  /**
   * Reads the hosts file and queries the servers of `resolv.conf`, as they were at the start of the process.
   * Needs no thread. Caches records for their time to live.
   */
  quick: Lookup;
  /** Resolves as all programs of the machine do, with every setting of its administrator, in a thread. */
  thorough: Lookup;
}

const QUICK_CONCURRENCY = 256;

/**
 * Limit of thorough look-ups. There are as many threads as cores, shared with the hashing of passwords, and
 * a resolver that does not answer blocks one for ten seconds.
 */
const THOROUGH_CONCURRENCY = 1;

/** Time for which the quick resolver is not used after it was found to be outdated. */
const OUTDATED_MS = 60_000;

const MACHINE: SystemResolvers = {
  async quick(name, family) {
    const addresses = await bunDns.lookup(name, { backend: "c-ares", family: family ?? 0 });
    return addresses.map(({ address }) => address);
  },
  async thorough(name, family) {
    const addresses = await dns.lookup(name, { all: true, family: family ?? 0, verbatim: true });
    return addresses.map(({ address }) => address);
  },
};

/** Creates the look-up of this machine: quick first, and thorough for names that are not found. */
export function systemLookup(clock: Clock, { quick, thorough } = MACHINE): BoundedLookup {
  const lookupQuickly = boundedLookup(quick, QUICK_CONCURRENCY);
  const lookupThoroughly = boundedLookup(thorough, THOROUGH_CONCURRENCY);
  let outdatedUntil = Number.NEGATIVE_INFINITY;

  return async (name, family, signal) => {
    if (clock.monotonic() < outdatedUntil) return lookupThoroughly(name, family, signal);
    try {
      return await lookupQuickly(name, family, signal);
    } catch (error) {
      const result = await lookupThoroughly(name, family, signal);
      // The servers of `resolv.conf` have probably changed since the start: only the thorough way works.
      if (result !== ABORTED && !isNotFound(error)) outdatedUntil = clock.monotonic() + OUTDATED_MS;
      return result;
    }
  };
}

function isNotFound(error: unknown): boolean {
  return /^(DNS_)?(ENOTFOUND|ENODATA)$/.test(codeOf(error));
}
