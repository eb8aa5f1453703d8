import type { Config } from "../base/config/options";
import type { Network } from "../base/config/parse";
import type { Clock } from "../base/clock";
import { lazy } from "../base/lazy";
import type { SendEcho } from "./echo";
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
import type { Lookup } from "./dns";
import type { OutsideAnswers } from "./outside";
import type { ProxyConfig } from "./proxy";
import type { OpenSocket } from "./socket";

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
  /** Asks a Docker host of the operator for the state of a container. */
  inspectContainer(target: ContainerTarget): Promise<HttpAnswer | Fault>;
}

export interface EgressDependencies {
  clock: Clock;
  /** Private networks that webhooks may reach. Read at every request, since it may change. */
  readonly allowedNetworks: readonly Network[];
  /**
   * Options that decide which authorities are trusted, which addresses mail may reach, only public ones if omitted,
   * the Docker hosts, and the proxy.
   */
  readonly config?: Pick<
    Config,
    "caFile" | "smtpHost" | "outboundAllow" | "dockerHosts" | "dockerTlsDir"
  > &
    Partial<ProxyConfig>;
  /** Notes answers from outside. */
  readonly outside?: Pick<OutsideAnswers, "answered">;
  /** Look-up of names; that of the system if omitted. */
  lookup?: Lookup;
  /** Sender of echo requests; that of the system if omitted. */
  echo?: SendEcho;
  /** Certificates of further trusted authorities, in PEM, in addition to those of the options. */
  trust?: readonly string[];
  /** Returns true if a file descriptor is free; checks the system if omitted. */
  hasFreeDescriptor?: () => boolean;
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
    inspectContainer: async (target) => (await opened()).inspectContainer(target),
  };
}
