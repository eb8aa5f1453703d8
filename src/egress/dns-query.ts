import { promises as dns } from "node:dns";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { formatHost } from "../config/parse";
import { ABORTED, codeOf, Fault, timedOut, untilAborted } from "./fault";
import { parseResolver } from "./host";
import type { DnsAnswer, DnsQuery, DnsRecordType } from "./model";
import type { OutsideAnswers } from "./outside";
import type { Policy } from "./policy";

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
