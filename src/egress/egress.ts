import { lazy } from "../base/lazy";
import type {
  Connection,
  ConnectTarget,
  ContainerTarget,
  DnsAnswer,
  DnsQuery,
  Fault,
  HttpAnswer,
  HttpRequest,
  PingOutcome,
  ResolveTarget,
} from "./model";
import type { EgressDependencies } from "./open-egress";
import type { OpenSocket } from "./handed-socket";

/** All outgoing connections. Each method returns once its signal aborts, at the latest, and never throws. */
export interface Egress {
  /** Returns the checked addresses of a host, at least one, in order of preference. */
  resolve(target: ResolveTarget): Promise<string[] | Fault>;
  /** Sends an ICMP echo request to the first address, unless this process lacks the permission. */
  ping(target: ResolveTarget): Promise<PingOutcome | Fault>;
  /** Opens a TCP or TLS connection to the first address that accepts one. */
  connect(target: ConnectTarget): Promise<Connection | Fault>;
  /** Opens a TCP or TLS connection for a protocol that the caller speaks. */
  socket(target: ConnectTarget): Promise<OpenSocket | Fault>;
  /** Sends one request over a connection of its own. Redirects are not followed. */
  request(request: HttpRequest): Promise<HttpAnswer | Fault>;
  /** Queries the DNS. */
  query(query: DnsQuery): Promise<DnsAnswer | Fault>;
  /** Asks a Docker host of the operator for the state of a container, or for the list of all. */
  askDocker(target: ContainerTarget): Promise<HttpAnswer | Fault>;
}

/** Creates the outgoing connections. Their code is loaded at the first use, which shortens the start. */
export function createEgress(deps: EgressDependencies): Egress {
  const opened = lazy(async () => (await import("./open-egress")).openEgress(deps));
  return {
    resolve: async (target) => (await opened()).resolve(target),
    ping: async (target) => (await opened()).ping(target),
    connect: async (target) => (await opened()).connect(target),
    socket: async (target) => (await opened()).socket(target),
    request: async (request) => (await opened()).request(request),
    query: async (query) => (await opened()).query(query),
    askDocker: async (target) => (await opened()).askDocker(target),
  };
}
