import { insertAllInto, type Tx } from "../db";
import { auditLog } from "../db/tables/events";
import type { Actor } from "../domain/actor";
import type { Clock } from "../kernel/clock";

/** A change and its author, with a one-sentence summary that holds no secret. */
export interface AuditEntry {
  actor: Actor;
  /** `<noun>.<verb>`, for example `key.revoke`. */
  action: string;
  targetId: string;
  summary: string;
  /** Unix milliseconds. */
  at: number;
}

const insertEntries = insertAllInto(auditLog);

/** Writes the entry in the transaction of the change that it describes. */
export function recordAudit(tx: Tx, entry: AuditEntry): void {
  recordAudits(tx, [entry]);
}

/** Writes any number of entries with one statement, in their order. */
export function recordAudits(tx: Tx, entries: readonly AuditEntry[]): void {
  const rows = entries.map(({ actor, action, targetId, summary, at }) => ({
    actorKind: actor.kind,
    actorId: actor.id,
    actorLabel: actor.label,
    action,
    targetId,
    summary,
    ip: actor.ip ?? null,
    at,
  }));
  insertEntries(tx, rows);
}

/** The same for a change that is made now. */
export function audit(
  ctx: { clock: Clock },
  tx: Tx,
  actor: Actor,
  action: string,
  targetId: string,
  summary: string,
): void {
  recordAudit(tx, { actor, action, targetId, summary, at: ctx.clock.now() });
}
