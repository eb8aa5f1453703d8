import type { Config } from "../config";
import type { Clock } from "../kernel/clock";
import { lazy } from "../kernel/lazy";
import type { Fault } from "./fault";
import type { Lookup } from "./lookup";
import type {
  Connection,
  ConnectTarget,
  DnsAnswer,
  DnsQuery,
  HttpAnswer,
  HttpRequest,
  ResolveTarget,
} from "./model";

/** The one way out. All answer within their signal's time, and none throws. */
export interface Egress {
  /** The addresses of a host, judged: never empty, first choice first. */
  resolve(target: ResolveTarget): Promise<string[] | Fault>;
  /** A TCP or TLS connection to the first of those addresses that accepts one. */
  connect(target: ConnectTarget): Promise<Connection | Fault>;
  /** One request over a connection of its own. A redirect is an answer like any other. */
  request(request: HttpRequest): Promise<HttpAnswer | Fault>;
  /** Queries the DNS. */
  query(query: DnsQuery): Promise<DnsAnswer | Fault>;
}

export interface EgressDependencies {
  clock: Clock;
  config: Pick<Config, "outboundAllow">;
  /** Resolver of names; the system's if omitted. */
  lookup?: Lookup;
  /** Certificates of authorities that are trusted besides the usual ones, in PEM. */
  trust?: readonly string[];
  /** True if a connection can have a file descriptor; absent: the system is asked. */
  hasFreeDescriptor?: () => boolean;
}

/**
 * Creates the outgoing connections. Their code is loaded with the first one, since loading takes
 * half as long as a start.
 */
export function createEgress(deps: EgressDependencies): Egress {
  const opened = lazy(async () => (await import("./open-egress")).openEgress(deps));
  return {
    resolve: async (target) => (await opened()).resolve(target),
    connect: async (target) => (await opened()).connect(target),
    request: async (request) => (await opened()).request(request),
    query: async (query) => (await opened()).query(query),
  };
}
