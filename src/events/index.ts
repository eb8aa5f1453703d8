/**
 * Records of changes: the outbox, from which deliveries are made, and the audit log. Both write in
 * the transaction of the change.
 */
export { audit, blankAuditAddresses, recordAudits, trimAudit } from "./audit";
export { type AuditPlace, type AuditQuery, type AuditRow, searchAudit } from "./audit-search";
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
