/**
 * All outgoing connections. A name is resolved once, all its addresses are checked by a policy, and the
 * connection goes to a checked address. Bodies are limited, and one signal is the deadline of all steps.
 * Failures are returned as `Fault`, never thrown.
 */
export { readBody } from "./body";
export { createEgress, type Egress } from "./egress";
export { ABORTED, Fault, timedOut, UNREADABLE, untilAborted } from "./fault";
export { hostError, parseHost, parseResolver } from "./host";
export {
  type Certificate,
  type ClientCertificate,
  type Contact,
  DNS_RECORD_TYPES,
  type DnsQuery,
  type DnsRecordType,
  type HttpAnswer,
  type HttpRequest,
  type IpFamily,
  nameOfExpiring,
  type Proxy,
  TLS_VERSIONS,
  type TlsRules,
  type TlsVersion,
  DEFAULT_BODY_MAX_BYTES,
} from "./model";
export { foreignStreamGuard } from "./http2-frames";
export { OutsideAnswers } from "./outside";
export {
  mailPolicy,
  monitorPolicy,
  networkError,
  type OutsideAddress,
  outsideAddressOf,
  type Policy,
  webhookPolicy,
} from "./policy";
export { headerError } from "./request-headers";
export { type Step, STEP_NAMES, type StepName, StepRecorder } from "./steps";
export type { HandedSocket } from "./handed-socket";
export type { OpenSocket } from "./socket";
