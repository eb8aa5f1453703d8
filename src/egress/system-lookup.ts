import { dns as bunDns } from "bun";
import { promises as dns } from "node:dns";
import type { Clock } from "../kernel/clock";
import { codeOf } from "./fault";
import { type BoundedLookup, boundedLookup, type Lookup } from "./lookup";
import { ABORTED } from "./until-aborted";

/** The two ways in which this machine can be asked for a name. */
export interface WaysToAsk {
  /**
   * Reads the hosts file and asks the resolvers of `resolv.conf`, as they were when the process began. It
   * occupies no thread and keeps what it was told for as long as the record allows.
   */
  quick: Lookup;
  /** Asks as every program of the machine does, with all that its administrator set; in a thread. */
  thorough: Lookup;
}

const QUICK_AT_ONCE = 256;

/**
 * The threads are as few as the machine's cores, and passwords are verified in them too. A resolver that
 * says nothing holds one for ten seconds, so never more than one is asked of them.
 */
const THOROUGH_AT_ONCE = 1;

const ASTRAY_FOR_MS = 60_000;

const MACHINE: WaysToAsk = {
  async quick(name, family) {
    const found = await bunDns.lookup(name, { backend: "c-ares", family: family ?? 0 });
    return found.map(({ address }) => address);
  },
  async thorough(name, family) {
    const found = await dns.lookup(name, { all: true, family: family ?? 0, verbatim: true });
    return found.map(({ address }) => address);
  },
};

/** Asks quickly, and thoroughly for what is not found that way. */
export function systemLookup(clock: Clock, { quick, thorough } = MACHINE): BoundedLookup {
  const askQuickly = boundedLookup(quick, QUICK_AT_ONCE);
  const askThoroughly = boundedLookup(thorough, THOROUGH_AT_ONCE);
  let isAstrayUntil = Number.NEGATIVE_INFINITY;

  return async (name, family, signal) => {
    if (clock.monotonic() < isAstrayUntil) return askThoroughly(name, family, signal);
    try {
      return await askQuickly(name, family, signal);
    } catch (error) {
      const answer = await askThoroughly(name, family, signal);
      // The machine knows resolvers that answer, and the quick way does not: they have changed since.
      if (answer !== ABORTED && !isNotFound(error))
        isAstrayUntil = clock.monotonic() + ASTRAY_FOR_MS;
      return answer;
    }
  };
}

function isNotFound(error: unknown): boolean {
  return /^(DNS_)?(ENOTFOUND|ENODATA)$/.test(codeOf(error));
}
