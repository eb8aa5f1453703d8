import type { SecureContext } from "node:tls";
import type { Clock } from "../base/clock";
import { identityHeaders } from "../base/config/identity-proxy";
import type { Config } from "../base/config/options";
import type { Network } from "../base/config/parse";
import { hasFreeDescriptors, NO_DESCRIPTOR_LEFT } from "../base/descriptors";
import {
  checkedCertificate,
  Connector,
  type Opened,
  secureSocket,
  tlsFault,
  tlsOptions,
} from "./connect";
import { boundedLookup, createResolve, queryDns, systemLookup, type Lookup } from "./dns";
import { askDocker, sendRequest } from "./request";
import { createEcho, type SendEcho } from "./echo";
import {
  type ConnectTarget,
  type Contact,
  Fault,
  type FaultKind,
  type ResolveTarget,
  type TlsRules,
  type ContainerTarget,
  type DnsQuery,
  type HttpRequest,
  type PingOutcome,
} from "./model";
import { HandedSocket, type OpenSocket } from "./handed-socket";
import type { OutsideAnswers } from "./outside";
import { type Host, parseHost, policiesOf } from "./policy";
import { outboundProxyOf, type ProxyConfig } from "./proxy";
import { createSecureContexts } from "./certificates";
import type { StepRecorder } from "./steps";

const LOOKUP_CONCURRENCY = 256;

/** Headers that the dashboard believes of a proxy. */
type IdentityProxyConfig = Pick<
  Config,
  "identityProxy" | "identityProxyHeader" | "identityProxyEmailHeader" | "identityProxyGroupsHeader"
>;

export interface EgressDependencies {
  clock: Clock;
  /** Private networks that webhooks may reach. Read at every request, since it may change. */
  readonly allowedNetworks: readonly Network[];
  /**
   * Options that decide which authorities are trusted, which addresses mail may reach, only public ones if omitted,
   * the Docker hosts, the proxy, and headers that are never sent.
   */
  readonly config?: Pick<
    Config,
    "caFile" | "smtpHost" | "outboundAllow" | "dockerHosts" | "dockerTlsDir"
  > &
    Partial<ProxyConfig> &
    Partial<IdentityProxyConfig>;
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

/** Creates the outgoing connections with their libraries; `createEgress` loads this file on demand. */
export function openEgress(deps: EgressDependencies) {
  const { clock, lookup, config, hasFreeDescriptor = () => hasFreeDescriptors(1) } = deps;
  const trust = [...(deps.trust ?? []), ...(config?.caFile ? [config.caFile.pem] : [])];
  const checked = createLocalFaultDetector(clock, hasFreeDescriptor);
  const policies = policiesOf(deps);
  const resolve = createResolve(
    lookup ? boundedLookup(lookup, LOOKUP_CONCURRENCY) : systemLookup(clock),
    policies,
  );
  const secureContexts = createSecureContexts(trust);
  const { outside } = deps;
  const connector = new Connector(clock, secureContexts(), outside);
  const outbound = outboundProxyOf(deps.config);
  const sendEcho = deps.echo ?? createEcho(clock);

  /** Returns the context of a connection; a fault for certificates that cannot be used. */
  function contextOf(rules: TlsRules): SecureContext | undefined | Fault {
    try {
      return secureContexts(rules);
    } catch {
      return new Fault("refused", "The certificates of the authorities cannot be used.");
    }
  }

  const reservedNames = new Set(config?.identityProxy?.length ? identityHeaders(config) : []);

  /**
   * Returns a fault for a header that names a user of the own dashboard: a proxy on this machine may be believed without
   * a secret, and so would be a monitor.
   */
  function reservedHeader(headers: object = {}): Fault | undefined {
    const name = Object.keys(headers).find((each) => reservedNames.has(each.toLowerCase()));
    return name === undefined
      ? undefined
      : new Fault(
          "refused",
          `The header ${name} names users of this dashboard, so it is never sent.`,
        );
  }

  return {
    async resolve(target: ResolveTarget) {
      const resolved = await checked(resolve(parsed(target)), target);
      return resolved instanceof Fault ? resolved : resolved.addresses;
    },

    async ping(target: ResolveTarget): Promise<PingOutcome | Fault> {
      const resolved = await checked(resolve(parsed(target)), target);
      if (resolved instanceof Fault) return resolved;
      const [address = ""] = resolved.addresses;
      const { signal, steps } = target;
      steps?.begin("ping", address);
      const echo = await sendEcho(address, signal);
      const { outcome } = echo;
      if (outcome === "unsupported" && !hasFreeDescriptor()) return NO_DESCRIPTOR;
      if (outcome === "answered") outside?.answered(address);
      if (outcome === "silent" && target.contact) target.contact.silence = "timeout";
      if (outcome !== "unreachable" && outcome !== "unsent") {
        return { outcome, address, latencyMs: outcome === "answered" ? echo.latencyMs : 0 };
      }
      return checked(Promise.resolve(outcome === "unsent" ? UNSENT : UNREACHABLE), target);
    },

    async connect(target: ConnectTarget) {
      const resolved = await checked(resolve(parsed(target)), target);
      if (resolved instanceof Fault) return resolved;
      const { host, addresses } = resolved;
      const tls = target.tls && { ...namesIn(target, host), ...target.tls };
      const secureContext = contextOf(target);
      if (secureContext instanceof Fault) return secureContext;
      const opening = connector.open({ ...target, addresses, tls, secureContext });
      const opened = await checked(opening, target);
      if (opened instanceof Fault) return opened;
      const { socket, address, certificate } = opened;
      return { address, certificate, close: () => void socket.destroy() };
    },

    async socket(target: ConnectTarget) {
      const reserved = reservedHeader(target.headers);
      if (reserved) return reserved;
      const resolved = await checked(resolve(parsed(target)), target);
      if (resolved instanceof Fault) return resolved;
      const { host, addresses } = resolved;
      const { steps } = target;
      const names = namesIn(target, host);
      const tls = target.tls && { ...names, ...target.tls };
      const secureContext = contextOf(target);
      if (secureContext instanceof Fault) return secureContext;
      const opening = connector.open({ ...target, addresses, tls, secureContext });
      const opened = await checked(opening, target);
      if (opened instanceof Fault) return opened;

      const handle = (connected: Pick<Opened, "socket" | "certificate">): OpenSocket => ({
        ...connected,
        address: opened.address,
        addresses,
        hand: (maxBytes) => new HandedSocket(connected.socket, maxBytes),
        async secure(options) {
          const { verify } = options;
          const secured = await checked(
            secureSocket(
              connected.socket,
              { ...names, verify },
              { ...options, secureContext, steps },
            ),
            target,
          );
          return secured instanceof Fault ? secured : handle(secured);
        },
        startTls: {
          options: tlsOptions(names, secureContext),
          check: (socket, verify) =>
            checkedCertificate(socket, { ...names, verify }, secureContext),
          fault: (error) => tlsFault(error),
        },
      });
      return handle(opened);
    },

    async request(request: HttpRequest) {
      const reserved = reservedHeader(request.headers);
      if (reserved) return reserved;
      const sending = sendRequest(request, { resolve, connector, secureContexts, outbound });
      const answer = await checked(sending, request);
      // By a proxy too: then this is the address of the target.
      if (!(answer instanceof Fault)) outside?.answered(answer.address);
      return answer;
    },

    query: (query: DnsQuery) => checked(queryDns(query, policies[query.policy], outside), query),

    async askDocker(target: ContainerTarget) {
      const { dockerHosts: hosts = new Map(), dockerTlsDir: tlsDir } = deps.config ?? {};
      const { contact: _operators, ...own } = target;
      return checked(askDocker(own, { hosts, tlsDir, resolve, connector }), own);
    },
  };
}

const UNSENT = new Fault("local", "This server had no room to send the echo request.");
const UNREACHABLE = new Fault("connect", "The echo request could not be sent to the host.");

/** Returns the name by which a server is known in TLS: its own one, or the host that was reached. */
function namesIn({ serverName }: ConnectTarget, reached: Host) {
  const host = (serverName === undefined ? undefined : parseHost(serverName)) ?? reached;
  return { host: host.name, isName: !host.isAddress };
}

function parsed<Target extends ResolveTarget>(target: Target) {
  return { ...target, host: parseHost(target.host) };
}

/** Time for which a shortage explains failures after it was last seen. */
const EXPLAINS_FOR_MS = 1_000;

/** Faults that a shortage of descriptors causes: the runtime reports them as refused connections. */
const CAUSED_BY_SHORTAGE: ReadonlySet<FaultKind> = new Set(["dns", "connect", "proxy", "timeout"]);

const NO_DESCRIPTOR = new Fault("local", NO_DESCRIPTOR_LEFT);

/** Faults after which the host may not have been reached. */
const SILENCES: ReadonlySet<FaultKind> = new Set(["dns", "connect", "timeout", "proxy"]);

/**
 * Returns a function that replaces faults which a shortage of descriptors explains, and records them as
 * the failure of the current step.
 */
function createLocalFaultDetector(clock: Clock, hasFreeDescriptor: () => boolean) {
  let lackedAt = Number.NEGATIVE_INFINITY;

  const explain = (fault: Fault): Fault => {
    if (!CAUSED_BY_SHORTAGE.has(fault.kind)) return fault;
    const now = clock.monotonic();
    if (!hasFreeDescriptor()) lackedAt = now;
    return now - lackedAt < EXPLAINS_FOR_MS ? NO_DESCRIPTOR : fault;
  };

  return async <T>(
    work: Promise<T | Fault>,
    { steps, contact }: { steps?: StepRecorder | undefined; contact?: Contact | undefined },
  ): Promise<T | Fault> => {
    const outcome = await work;
    if (contact) contact.silence = undefined;
    if (!(outcome instanceof Fault)) return outcome;
    const fault = explain(outcome);
    const isSilent = SILENCES.has(fault.kind) && !contact?.hasAnswered;
    if (contact && isSilent) contact.silence = fault.kind as Contact["silence"];
    steps?.fail(fault.message);
    return fault;
  };
}
