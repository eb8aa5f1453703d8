import { desc, sql } from "drizzle-orm";
import { type Reader, selectMany } from "../db/statements";
import { auditLog } from "../db/tables/events";

/** An entry of the audit log. Its address is deleted after a while. */
export type AuditRow = typeof auditLog.$inferSelect;

/** Position of an entry in the log. */
export type AuditCursor = Pick<AuditRow, "at" | "id">;

/** Filters of the log. An omitted filter matches everything. */
export interface AuditQuery {
  /** Part of the summary, actor, action, target or address. The case of ASCII letters is ignored. */
  text?: string | undefined;
  /** Id of a user or key, or a kind of actor. */
  actor?: string | undefined;
  /** An action such as `key.revoke`, or its first part: `key`. */
  action?: string | undefined;
  /** Id of the changed object. */
  target?: string | undefined;
  /** Unix ms, inclusive. */
  from?: number | undefined;
  /** Unix ms, exclusive. */
  until?: number | undefined;
  /** Only entries that were written before this one. */
  before?: AuditCursor | undefined;
  limit: number;
}

/** Limit of characters of a text to search for. */
const TEXT_MAX = 1_000;

interface SearchParams {
  text: string | null;
  actor: string | null;
  action: string | null;
  target: string | null;
  from: number;
  until: number;
  beforeAt: number;
  beforeId: number;
  limit: number;
}

// Sorted as the index of times, so that entries outside the range are not read.
const listFoundEntries = selectMany((orm, $: SearchParams) => {
  const { text, actor, action, target } = $;
  const holds = (column: unknown) => sql`instr(lower(${column}), lower(${text})) > 0`;
  return orm
    .select()
    .from(auditLog)
    .where(
      sql`(${auditLog.at}, ${auditLog.id}) < (${$.beforeAt}, ${$.beforeId})
        AND ${auditLog.at} >= ${$.from} AND ${auditLog.at} < ${$.until}
        AND (${actor} IS NULL OR ${auditLog.actorId} = ${actor} OR ${auditLog.actorKind} = ${actor})
        AND (${target} IS NULL OR ${auditLog.targetId} = ${target})
        AND (${action} IS NULL OR ${auditLog.action} = ${action}
          OR substr(${auditLog.action}, 1, length(${action}) + 1) = ${action} || '.')
        AND (${text} IS NULL OR ${holds(auditLog.summary)} OR ${holds(auditLog.actorLabel)}
          OR ${holds(auditLog.action)} OR ${holds(auditLog.targetId)} OR ${holds(auditLog.ip)})`,
    )
    .orderBy(desc(auditLog.at), desc(auditLog.id))
    .limit($.limit);
});

const LAST = Number.MAX_SAFE_INTEGER;

/** Returns entries of the audit log, newest first. Paging by `before` is not affected by new entries. */
export function searchAudit(reader: Reader, query: AuditQuery): AuditRow[] {
  const { from = 0, until = LAST, before = { at: LAST, id: LAST }, limit } = query;
  return listFoundEntries(reader, {
    text: query.text?.trim().slice(0, TEXT_MAX) || null,
    actor: query.actor ?? null,
    action: query.action ?? null,
    target: query.target ?? null,
    from,
    until,
    beforeAt: before.at,
    beforeId: before.id,
    limit,
  });
}
