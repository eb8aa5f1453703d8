import { insertInto, type Tx } from "../db";
import { auditLog } from "../db/tables/events";
import type { Actor } from "../kernel/actor";
import type { Clock } from "../kernel/clock";

/** Who changed what, told in one sentence that holds no secret. */
export interface AuditEntry {
  actor: Actor;
  /** `<noun>.<verb>`, for example `key.revoke`. */
  action: string;
  targetId: string;
  summary: string;
  /** The client's address, where there is one. */
  ip?: string | undefined;
  /** Unix milliseconds. */
  at: number;
}

const insertEntry = insertInto(auditLog);

/** Writes the entry in the transaction of the change that it tells of. */
export function recordAudit(tx: Tx, entry: AuditEntry): void {
  const { actor, action, targetId, summary, ip, at } = entry;
  insertEntry(tx, {
    actorKind: actor.kind,
    actorId: actor.id,
    actorLabel: actor.label,
    action,
    targetId,
    summary,
    ip: ip ?? null,
    at,
  });
}

/** The same for a change that is made now, where no address is known. */
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
