import { and, asc, eq, isNotNull, lt, sql } from "drizzle-orm";
import type { Actor } from "../base/actor";
import type { Clock } from "../base/clock";
import { insertAllInto, mutate, selectOne, type Tx } from "../db/statements";
import { auditLog } from "../db/tables/events";

/** A change and its author, with a one-sentence summary that holds no secret. */
interface AuditEntry {
  actor: Actor;
  /** `<noun>.<verb>`, for example `key.revoke`. */
  action: string;
  targetId: string;
  summary: string;
  /** Unix milliseconds. */
  at: number;
}

const insertEntries = insertAllInto(auditLog);

/**
 * Writes entries in the transaction of their change, with one statement, in order. Those of changes that are
 * parts of another action are left out.
 */
export function recordAudits(tx: Tx, entries: readonly AuditEntry[]): void {
  const whole = entries.filter(({ actor: { partOf = "" }, action }) =>
    ["", action].includes(partOf),
  );
  const rows = whole.map(({ actor, action, targetId, summary, at }) => ({
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

/** Writes an entry with the current time. */
export function audit(
  ctx: { clock: Clock },
  tx: Tx,
  actor: Actor,
  action: string,
  targetId: string,
  summary: string,
): void {
  recordAudits(tx, [{ actor, action, targetId, summary, at: ctx.clock.now() }]);
}

const findLastEntry = selectOne((orm, _$: Record<string, never>) =>
  orm.select({ id: sql<number>`max(${auditLog.id})` }).from(auditLog),
);

const setSummary = mutate((orm, $: { id: number; summary: string }) =>
  orm.update(auditLog).set({ summary: $.summary }).where(eq(auditLog.id, $.id)),
);

/**
 * Returns a function that writes the entry of a change in several transactions. The first call inserts it, later ones
 * replace its summary, so that the log says how far a change came that was broken off.
 */
export function createRunningAudit(
  ctx: { clock: Clock },
  actor: Actor,
  action: string,
  targetId: string,
): (tx: Tx, summary: string) => void {
  let id: number | undefined;
  return (tx, summary) => {
    if (id !== undefined) {
      setSummary(tx, { id, summary });
      return;
    }
    audit(ctx, tx, actor, action, targetId, summary);
    const inserted = findLastEntry(tx, {})?.id;
    tx.afterCommit(() => {
      id = inserted;
    });
  };
}

/** Limit of rows per transaction, which keeps it short. */
const ROWS_PER_BATCH = 500;

const deleteEntriesBefore = mutate((orm, $: { before: number; limit: number }) =>
  orm
    .delete(auditLog)
    .where(
      sql`${auditLog.id} IN ${orm
        .select({ id: auditLog.id })
        .from(auditLog)
        .where(lt(auditLog.at, $.before))
        .orderBy(asc(auditLog.at))
        .limit($.limit)}`,
    ),
);

const deleteAddressesBefore = mutate((orm, $: { before: number; limit: number }) =>
  orm
    .update(auditLog)
    .set({ ip: null })
    .where(
      sql`${auditLog.id} IN ${orm
        .select({ id: auditLog.id })
        .from(auditLog)
        .where(and(isNotNull(auditLog.ip), lt(auditLog.at, $.before)))
        .orderBy(asc(auditLog.at))
        .limit($.limit)}`,
    ),
);

/** Deletes at most 500 entries from before a time in unix ms. Returns true if there may be more. */
export function deleteOldAudits(tx: Tx, before: number): boolean {
  return deleteEntriesBefore(tx, { before, limit: ROWS_PER_BATCH }) === ROWS_PER_BATCH;
}

/** Deletes the addresses in at most 500 entries, like `deleteOldAudits`. */
export function deleteAuditAddresses(tx: Tx, before: number): boolean {
  return deleteAddressesBefore(tx, { before, limit: ROWS_PER_BATCH }) === ROWS_PER_BATCH;
}
