/**
 * Every outgoing request: a name is resolved once, every address it has is judged, and the connection
 * goes to an address that was judged. What is read is capped; one signal is the deadline of all steps.
 * What goes wrong is a `Fault`, never thrown.
 */
export { type Body, readBody } from "./body";
export { createEgress, type Egress, type EgressDependencies } from "./egress";
export { Fault, type FaultKind } from "./fault";
export { type Host, hostError, parseHost } from "./host";
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
export { parseResolver } from "./resolver";
