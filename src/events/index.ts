/**
 * Records of changes: the outbox, whose events become deliveries, the audit log, and the versions by
 * which other processes notice changes. All are written in the transaction of the change.
 */
export {
  audit,
  createRunningAudit,
  deleteAuditAddresses,
  deleteOldAudits,
  recordAudits,
} from "./audit";
export { type AuditCursor, type AuditQuery, type AuditRow, searchAudit } from "./audit-search";
export { type Author, authorsOf } from "./authors";
export { type ChangeSignals, createChanges, findVersion } from "./changes";
export { EVENTS, type EventType } from "./catalog";
export {
  createOutbox,
  type EventGroup,
  type EventSubscriber,
  type Outbox,
  type OutboxEvent,
  type RecordedEvent,
} from "./outbox";
