import { desc, sql } from "drizzle-orm";
import { type Reader, selectMany } from "../db";
import { auditLog } from "../db/tables/events";

/** An entry of the audit log: who changed what, when, and from where as long as that is kept. */
export type AuditRow = typeof auditLog.$inferSelect;

/** Position of an entry in the log. */
export type AuditPlace = Pick<AuditRow, "at" | "id">;

/** Filters of the log. An omitted filter matches everything. */
export interface AuditQuery {
  /** A part of the sentence, of who, of what or of the address; of ASCII letters the case does not matter. */
  text?: string | undefined;
  /** Id of a user or a key, or a kind of actor. */
  actor?: string | undefined;
  /** An action such as `key.revoke`, or what it begins with: `key`. */
  action?: string | undefined;
  /** The id of what was changed. */
  target?: string | undefined;
  /** Unix ms: from the first on, and before the other. */
  from?: number | undefined;
  until?: number | undefined;
  /** An entry: those before it, and of those at its time the ones that were written before. */
  before?: AuditPlace | undefined;
  limit: number;
}

/** Longer than any label or action, and than most sentences. */
const TEXT_MAX = 1_000;

interface Params {
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

// In the order of the index of times, which is then all that is read of what lies elsewhere.
const listEntries = selectMany((orm, $: Params) => {
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

/** Entries of the audit log, newest first. Going on by `before` meets each once, whatever is written meanwhile. */
export function searchAudit(reader: Reader, query: AuditQuery): AuditRow[] {
  const { from = 0, until = LAST, before = { at: LAST, id: LAST }, limit } = query;
  return listEntries(reader, {
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
