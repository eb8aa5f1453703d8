/**
 * Records of changes: the outbox, whose events become deliveries, and the audit log. Both are
 * written in the transaction of the change.
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
export { EVENTS, type EventType } from "./catalog";
export {
  createOutbox,
  type EventGroup,
  type EventSubscriber,
  type Outbox,
  type OutboxEvent,
  type RecordedEvent,
} from "./outbox";
