/**
 * All outgoing connections. A name is resolved once, all its addresses are checked by a policy, and the
 * connection goes to a checked address. Bodies are limited, and one signal is the deadline of all steps.
 * Failures are returned as `Fault`, never thrown.
 */
export { type Body, readBody } from "./body";
export { createEgress, type Egress, type EgressDependencies } from "./egress";
export { Fault, type FaultKind } from "./fault";
export { type Host, hostError, parseHost, parseResolver } from "./host";
export type { Lookup } from "./lookup";
export {
  type Certificate,
  type Connection,
  type ConnectTarget,
  DNS_RECORD_TYPES,
  type DnsAnswer,
  type DnsQuery,
  type DnsRecordType,
  type HttpAnswer,
  type HttpRequest,
  type IpFamily,
  MOST_BODY_BYTES,
  type PolicyName,
  type ResolveTarget,
} from "./model";
export { monitorPolicy, type Policy, webhookPolicy } from "./policy";
export { headerError } from "./request-headers";
