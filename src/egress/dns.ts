import { dns as bunDns } from "bun";
import ipaddr from "ipaddr.js";
import { promises as dns } from "node:dns";
import { isIP } from "node:net";
import type { Clock } from "../base/clock";
import { formatHost } from "../base/config/parse";
import {
  ABORTED,
  codeOf,
  type DnsAnswer,
  type DnsQuery,
  type DnsRecordType,
  Fault,
  type IpFamily,
  type PolicyName,
  type ResolveTarget,
  timedOut,
  untilAborted,
} from "./model";
import type { OutsideAnswers } from "./outside";
import { type Host, parseResolver, type Policy } from "./policy";

/** Resolves a name to its addresses. Rejects if there are none, or no resolver answers. */
export type Lookup = (name: string, family: IpFamily | undefined) => Promise<string[]>;

/** A look-up that is waiting or under way. */
interface PendingLookup {
  addresses: Promise<string[]>;
  start(): Promise<void>;
  /** Number of callers that wait for the result. */
  callers: number;
}

type BoundedLookup = (
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

/** A host with its addresses, all of them allowed. */
interface Resolved {
  host: Host;
  /** At least one, in order of choice. */
  addresses: string[];
}

/** A target whose host was parsed; undefined if it is neither a name nor an address. */
type ParsedTarget = Omit<ResolveTarget, "host"> & { host: Host | undefined };

export type Resolve = (target: ParsedTarget) => Promise<Resolved | Fault>;

/** Creates the function that resolves a host. It returns a fault if any address is forbidden. */
export function createResolve(
  lookup: BoundedLookup,
  policies: Record<PolicyName, Policy>,
): Resolve {
  return async ({ host, family, policy, signal, steps, contact }) => {
    steps?.begin("look_up", host?.name);
    if (contact) Object.assign(contact, { host: host?.name, addresses: [], hasAnswered: false });
    if (!host) return new Fault("refused", "The host is neither a name nor an IP address.");
    const candidates = host.isAddress ? [host.name] : await namedAddresses(host.name);
    if (candidates instanceof Fault) return candidates;
    const addresses = candidates.filter(
      (address) => family === undefined || (address.includes(":") ? 6 : 4) === family,
    );
    if (addresses.length === 0) {
      return new Fault("dns", `The host has no ${family ? `IPv${family} ` : ""}address.`);
    }
    for (const address of addresses) {
      const problem = policies[policy].addressError(address);
      if (problem) return new Fault("refused", `The host's address ${problem}.`);
    }
    steps?.end(host.isAddress ? undefined : addresses.join(", "));
    if (contact) contact.addresses = addresses;
    return { host, addresses };

    async function namedAddresses(name: string): Promise<string[] | Fault> {
      try {
        const answer = await lookup(name, family, signal);
        return answer === ABORTED ? timedOut("resolving the name") : answer;
      } catch (error) {
        return lookupFault(error);
      }
    }
  };
}

function lookupFault(error: unknown): Fault {
  const code = codeOf(error).replace(/^DNS_/, "");
  return code === "ENOTFOUND" || code === "ENODATA"
    ? new Fault("dns", "The name has no address.")
    : new Fault("dns", `The name could not be resolved (${code || "no reason given"}).`);
}

const FAULTS: Readonly<Record<string, string>> = {
  ENOTFOUND: "The name has no such record.",
  ENODATA: "The name has no such record.",
  ESERVFAIL: "The resolver could not answer (SERVFAIL).",
  EREFUSED: "The resolver refused to answer.",
  ECONNREFUSED: "The resolver cannot be reached.",
  ETIMEOUT: "The resolver did not answer.",
  EBADNAME: "The name is not one that the DNS can hold.",
};

/** Faults without an answer of the resolver. */
const UNANSWERED: ReadonlySet<string> = new Set(["ECONNREFUSED", "ETIMEOUT", "ECANCELLED"]);

/** Queries the DNS once. The answer is not cached. */
export async function queryDns(
  query: DnsQuery,
  policy: Policy,
  outside?: Pick<OutsideAnswers, "answered">,
): Promise<DnsAnswer | Fault> {
  const { name, type, signal, steps, contact } = query;
  steps?.begin("query", query.resolver);
  if (signal.aborted) return timedOut("asking the resolver");
  // Each query has its own resolver, since a resolver caches records for their time to live.
  const resolver = new dns.Resolver();
  let address: string | undefined;
  if (query.resolver !== undefined) {
    const server = parseResolver(query.resolver);
    if (!server) return new Fault("refused", "The resolver is not an IP address.");
    const problem = policy.addressError(server.address);
    if (problem) return new Fault("refused", `The resolver's address ${problem}.`);
    address = server.address;
    resolver.setServers([`${formatHost(server.address)}:${server.port}`]);
  }
  if (contact) {
    // Without a resolver of its own, the query may never leave this machine.
    const addresses = address === undefined ? [] : [address];
    Object.assign(contact, { host: address ?? name, addresses, hasAnswered: false });
  }
  try {
    const answer = await untilAborted(ask(resolver, name, type), signal);
    if (answer === ABORTED) return timedOut("asking the resolver");
    noteAnswer();
    steps?.end(answer.join(", "));
    return { records: answer };
  } catch (error) {
    const code = codeOf(error).replace(/^DNS_/, "");
    if (code in FAULTS && !UNANSWERED.has(code)) noteAnswer();
    return new Fault("dns", FAULTS[code] ?? `The resolver failed (${code || "no reason given"}).`);
  } finally {
    resolver.cancel();
  }

  function noteAnswer(): void {
    if (address === undefined) return;
    if (contact) contact.hasAnswered = true;
    outside?.answered(address);
  }
}

async function ask(resolver: dns.Resolver, name: string, type: DnsRecordType): Promise<string[]> {
  switch (type) {
    case "A":
      return await resolver.resolve4(name);
    case "AAAA":
      return await resolver.resolve6(name);
    case "CAA":
      return (await resolver.resolveCaa(name)).map(({ critical, ...tag }) => {
        const [key = "", value = ""] = Object.entries(tag)[0] ?? [];
        return `${critical} ${key} "${value}"`;
      });
    case "CNAME":
      return await resolver.resolveCname(name);
    case "MX":
      return (await resolver.resolveMx(name)).map(
        ({ priority, exchange }) => `${priority} ${exchange}`,
      );
    case "NS":
      return await resolver.resolveNs(name);
    case "PTR":
      return await resolver.resolvePtr(reverseName(name));
    case "SOA": {
      const { nsname, hostmaster, serial, refresh, retry, expire, minttl } =
        await resolver.resolveSoa(name);
      return [`${nsname} ${hostmaster} ${serial} ${refresh} ${retry} ${expire} ${minttl}`];
    }
    case "SRV":
      return (await resolver.resolveSrv(name)).map(
        ({ priority, weight, port, name: target }) => `${priority} ${weight} ${port} ${target}`,
      );
    case "TXT":
      return wholeTexts(await resolver.resolveTxt(name));
  }
}

const LONGEST_TXT_PIECE = 255;

/**
 * Joins the pieces of long texts, which Bun returns as separate records (Node returns one record with its
 * pieces). A piece of full length is continued by the next one. Shorter pieces cannot be joined.
 */
function wholeTexts(pieces: string[][]): string[] {
  const texts: string[] = [];
  let isUnfinished = false;
  for (const piece of pieces.map((parts) => parts.join(""))) {
    if (isUnfinished) texts.push((texts.pop() ?? "") + piece);
    else texts.push(piece);
    isUnfinished = Buffer.byteLength(piece) === LONGEST_TXT_PIECE;
  }
  return texts;
}

/** Returns the name at which the DNS keeps the names of an address (RFC 1035, 3596); other names unchanged. */
function reverseName(name: string): string {
  switch (isIP(name)) {
    case 4:
      return `${name.split(".").reverse().join(".")}.in-addr.arpa`;
    case 6: {
      const hex = Buffer.from(ipaddr.IPv6.parse(name).toByteArray()).toString("hex");
      return `${[...hex].reverse().join(".")}.ip6.arpa`;
    }
    default:
      return name;
  }
}
