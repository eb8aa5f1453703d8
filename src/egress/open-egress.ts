import { hasFreeDescriptors } from "../kernel/descriptors";
import { createSecureContext, rootCertificates } from "node:tls";
import { Connector } from "./connect";
import { queryDns } from "./dns-query";
import { Fault } from "./fault";
import type { Egress, EgressDependencies } from "./egress";
import { createLocalFaultDetector } from "./local-fault";
import { boundedLookup } from "./lookup";
import { policiesOf } from "./policy";
import { sendRequest } from "./request";
import { createResolve } from "./resolve";
import { systemLookup } from "./system-lookup";

const LOOKUPS_AT_ONCE = 256;

/** The machinery of `createEgress`, with all that it loads. */
export function openEgress({
  clock,
  config,
  lookup,
  trust = [],
  hasFreeDescriptor = () => hasFreeDescriptors(1),
}: EgressDependencies): Egress {
  const checked = createLocalFaultDetector(clock, hasFreeDescriptor);
  const policies = policiesOf(config.outboundAllow);
  const asking = lookup ? boundedLookup(lookup, LOOKUPS_AT_ONCE) : systemLookup(clock);
  const resolve = createResolve(asking, policies);
  const connector = new Connector(
    clock,
    trust.length > 0 ? createSecureContext({ ca: [...rootCertificates, ...trust] }) : undefined,
  );

  return {
    async resolve(target) {
      const resolved = await checked(resolve(target));
      return resolved instanceof Fault ? resolved : resolved.addresses;
    },

    async connect(target) {
      const resolved = await checked(resolve(target));
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
