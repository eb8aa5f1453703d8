import { createSecureContext, rootCertificates } from "node:tls";
import type { Config } from "../config";
import type { Clock } from "../kernel/clock";
import { Connector } from "./connect";
import { queryDns } from "./dns-query";
import { Fault } from "./fault";
import { boundedLookup, type Lookup } from "./lookup";
import type {
  Connection,
  ConnectTarget,
  DnsAnswer,
  DnsQuery,
  HttpAnswer,
  HttpRequest,
  ResolveTarget,
} from "./model";
import { policiesOf } from "./policy";
import { sendRequest } from "./request";
import { createResolve } from "./resolve";
import { systemLookup } from "./system-lookup";

/** The one way out. All answer within their signal's time, and none throws. */
export interface Egress {
  /** The addresses of a host, judged: never empty, first choice first. */
  resolve(target: ResolveTarget): Promise<string[] | Fault>;
  /** A TCP or TLS connection to the first of those addresses that accepts one. */
  connect(target: ConnectTarget): Promise<Connection | Fault>;
  /** One request over a connection of its own. A redirect is an answer like any other. */
  request(request: HttpRequest): Promise<HttpAnswer | Fault>;
  /** What the DNS says of a name. */
  query(query: DnsQuery): Promise<DnsAnswer | Fault>;
}

export interface EgressMeans {
  clock: Clock;
  config: Pick<Config, "outboundAllow">;
  /** Who knows the addresses of names; absent: the system. */
  lookup?: Lookup;
  /** Certificates of authorities that are trusted besides the usual ones, in PEM. */
  trust?: readonly string[];
}

const LOOKUPS_AT_ONCE = 256;

export function createEgress({ clock, config, lookup, trust = [] }: EgressMeans): Egress {
  const policies = policiesOf(config.outboundAllow);
  const asking = lookup ? boundedLookup(lookup, LOOKUPS_AT_ONCE) : systemLookup(clock);
  const resolve = createResolve(asking, policies);
  const connector = new Connector(
    clock,
    trust.length > 0 ? createSecureContext({ ca: [...rootCertificates, ...trust] }) : undefined,
  );

  return {
    async resolve(target) {
      const resolved = await resolve(target);
      return resolved instanceof Fault ? resolved : resolved.addresses;
    },

    async connect(target) {
      const resolved = await resolve(target);
      if (resolved instanceof Fault) return resolved;
      const { host, addresses } = resolved;
      const opened = await connector.open({
        addresses,
        port: target.port,
        tls: target.tls && { host: host.name, isName: !host.isAddress, verify: target.tls.verify },
        signal: target.signal,
      });
      if (opened instanceof Fault) return opened;
      const { socket, address, certificate } = opened;
      return { address, certificate, close: () => void socket.destroy() };
    },

    request: (request) => sendRequest(request, { resolve, connector }),

    query: (query) => queryDns(query, policies[query.policy]),
  };
}
