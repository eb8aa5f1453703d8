import { createSecureContext, rootCertificates } from "node:tls";
import type { Clock } from "../kernel/clock";
import { hasFreeDescriptors, NO_DESCRIPTOR_LEFT } from "../kernel/descriptors";
import { Connector } from "./connect";
import { queryDns } from "./dns-query";
import type { Egress, EgressDependencies } from "./egress";
import { Fault, type FaultKind } from "./fault";
import { parseHost } from "./host";
import { boundedLookup, systemLookup } from "./lookup";
import type { ResolveTarget } from "./model";
import { policiesOf } from "./policy";
import { sendRequest } from "./request";
import { createResolve } from "./resolve";

const LOOKUP_CONCURRENCY = 256;

/** Creates the outgoing connections with their libraries; `createEgress` loads this file on demand. */
export function openEgress(deps: EgressDependencies): Egress {
  const { clock, lookup, trust = [], hasFreeDescriptor = () => hasFreeDescriptors(1) } = deps;
  const checked = createLocalFaultDetector(clock, hasFreeDescriptor);
  const policies = policiesOf(() => deps.allowedNetworks);
  const resolve = createResolve(
    lookup ? boundedLookup(lookup, LOOKUP_CONCURRENCY) : systemLookup(clock),
    policies,
  );
  const connector = new Connector(
    clock,
    trust.length > 0 ? createSecureContext({ ca: [...rootCertificates, ...trust] }) : undefined,
  );

  return {
    async resolve(target) {
      const resolved = await checked(resolve(parsed(target)));
      return resolved instanceof Fault ? resolved : resolved.addresses;
    },

    async connect(target) {
      const resolved = await checked(resolve(parsed(target)));
      if (resolved instanceof Fault) return resolved;
      const { host, addresses } = resolved;
      const tls = target.tls && {
        host: host.name,
        isName: !host.isAddress,
        verify: target.tls.verify,
      };
      const { port, signal } = target;
      const opened = await checked(connector.open({ addresses, port, tls, signal }));
      if (opened instanceof Fault) return opened;
      const { socket, address, certificate } = opened;
      return { address, certificate, close: () => void socket.destroy() };
    },

    request: (request) => checked(sendRequest(request, { resolve, connector })),

    query: (query) => checked(queryDns(query, policies[query.policy])),
  };
}

function parsed<Target extends ResolveTarget>(target: Target) {
  return { ...target, host: parseHost(target.host) };
}

/** Time for which a shortage explains failures after it was last seen. */
const EXPLAINS_FOR_MS = 1_000;

/** Faults that a shortage of descriptors causes: the runtime reports them as refused connections. */
const CAUSED_BY_SHORTAGE: ReadonlySet<FaultKind> = new Set(["dns", "connect", "timeout"]);

const NO_DESCRIPTOR = new Fault("local", NO_DESCRIPTOR_LEFT);

/** Returns a function that replaces faults which a shortage of descriptors explains. */
function createLocalFaultDetector(clock: Clock, hasFreeDescriptor: () => boolean) {
  let lackedAt = Number.NEGATIVE_INFINITY;

  return async <T>(work: Promise<T | Fault>): Promise<T | Fault> => {
    const outcome = await work;
    if (!(outcome instanceof Fault) || !CAUSED_BY_SHORTAGE.has(outcome.kind)) return outcome;
    const now = clock.monotonic();
    if (!hasFreeDescriptor()) lackedAt = now;
    return now - lackedAt < EXPLAINS_FOR_MS ? NO_DESCRIPTOR : outcome;
  };
}
