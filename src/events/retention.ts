import { and, asc, isNotNull, lt, sql } from "drizzle-orm";
import { mutate, type Tx } from "../db";
import { auditLog } from "../db/tables/events";

/** Small enough that nobody waits for the transaction. */
const ROWS_AT_ONCE = 500;

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

const blankAddressesBefore = mutate((orm, $: { before: number; limit: number }) =>
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

/**
 * Deletes entries of the audit log from before a moment (unix ms), at most 500 a call. Whether there may
 * be more.
 */
export function trimAudit(tx: Tx, before: number): boolean {
  return deleteEntriesBefore(tx, { before, limit: ROWS_AT_ONCE }) === ROWS_AT_ONCE;
}

/** Forgets the addresses in it from before a moment; as many, the same answer. */
export function blankAuditAddresses(tx: Tx, before: number): boolean {
  return blankAddressesBefore(tx, { before, limit: ROWS_AT_ONCE }) === ROWS_AT_ONCE;
}
