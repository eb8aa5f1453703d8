import { asc, desc, sql } from "drizzle-orm";
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
  /** Only entries that were written before this one; after it for the oldest first. */
  before?: AuditCursor | undefined;
  isOldestFirst?: boolean;
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
const listStatement = (isOldestFirst: boolean) =>
  selectMany((orm, $: SearchParams) => {
    const { text, actor, action, target } = $;
    const holds = (column: unknown) => sql`instr(lower(${column}), lower(${text})) > 0`;
    const direction = isOldestFirst ? asc : desc;
    return orm
      .select()
      .from(auditLog)
      .where(
        sql`(${auditLog.at}, ${auditLog.id}) ${sql.raw(isOldestFirst ? ">" : "<")} (${$.beforeAt}, ${$.beforeId})
        AND ${auditLog.at} >= ${$.from} AND ${auditLog.at} < ${$.until}
        AND (${actor} IS NULL OR ${auditLog.actorId} = ${actor} OR ${auditLog.actorKind} = ${actor})
        AND (${target} IS NULL OR ${auditLog.targetId} = ${target})
        AND (${action} IS NULL OR ${auditLog.action} = ${action}
          OR substr(${auditLog.action}, 1, length(${action}) + 1) = ${action} || '.')
        AND (${text} IS NULL OR ${holds(auditLog.summary)} OR ${holds(auditLog.actorLabel)}
          OR ${holds(auditLog.action)} OR ${holds(auditLog.targetId)} OR ${holds(auditLog.ip)})`,
      )
      .orderBy(direction(auditLog.at), direction(auditLog.id))
      .limit($.limit);
  });

const listNewestFirst = listStatement(false);
const listOldestFirst = listStatement(true);

const LAST = Number.MAX_SAFE_INTEGER;

/** Returns entries of the audit log, by default newest first. Paging by `before` is not affected by new entries. */
export function searchAudit(reader: Reader, query: AuditQuery): AuditRow[] {
  const { from = 0, until = LAST, isOldestFirst = false, limit } = query;
  const start = isOldestFirst ? 0 : LAST;
  const { before = { at: start, id: start } } = query;
  return (isOldestFirst ? listOldestFirst : listNewestFirst)(reader, {
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

/** Longest time between a row and its entry, which are written in the same transaction. */
const LOGGED_WITHIN_MS = 1_000;

interface AuthorParams {
  targetId: string;
  /** Actions that wrote the steps, as a JSON list: `["incident.create"]`. */
  actions: string;
  /** Times of the steps, as a JSON list of unix ms. */
  times: string;
}

// By time, for which the log has an index.
const listAuthorEntries = selectMany((orm, $: AuthorParams) =>
  orm
    .select({ kind: auditLog.actorKind, label: auditLog.actorLabel, at: auditLog.at })
    .from(auditLog)
    .where(
      sql`${auditLog.id} IN (
        SELECT entry.id FROM json_each(${$.times}) AS step
        CROSS JOIN audit_log AS entry ON entry.at BETWEEN step.value AND step.value + ${sql.raw(String(LOGGED_WITHIN_MS))}
        WHERE entry.target_id = ${$.targetId}
          AND entry.action IN (SELECT value FROM json_each(${$.actions})))`,
    )
    .orderBy(asc(auditLog.id)),
);

/** Author of a change, as in the audit log. */
export interface Author {
  kind: (typeof auditLog.$inferSelect)["actorKind"];
  label: string;
}

/**
 * Returns the authors of an object's steps by step id, as far as the audit log still has their entries.
 * `steps` are in the order of writing, each written by one of `actions`.
 */
export function authorsOf(
  reader: Reader,
  targetId: string,
  actions: readonly string[],
  steps: readonly { id: string; createdAt: number }[],
): ReadonlyMap<string, Author> {
  const times = JSON.stringify(steps.map(({ createdAt }) => createdAt));
  const entries = listAuthorEntries(reader, { targetId, actions: JSON.stringify(actions), times });
  const authors = new Map<string, Author>();
  let next = 0;
  for (const { id, createdAt } of steps) {
    const entry = entries[next];
    if (!entry || entry.at > createdAt + LOGGED_WITHIN_MS) continue;
    authors.set(id, { kind: entry.kind, label: entry.label });
    next += 1;
  }
  return authors;
}
