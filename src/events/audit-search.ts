import { asc, desc, sql } from "drizzle-orm";
import { WHOLE_TURN } from "../base/in-slices";
import { ROWS_PER_TURN } from "../db/parts";
import { type Reader, selectMany, selectOne } from "../db/statements";
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

/** Part of the log: the entries after a place, in the order of reading. */
interface PartParams {
  /** First and last time. */
  from: number;
  until: number;
  placeAt: number;
  placeId: number;
}

interface SearchParams extends PartParams {
  text: string | null;
  actor: string | null;
  action: string | null;
  target: string | null;
  /** Number of entries that are looked at, and of those that are returned. */
  examined: number;
  limit: number;
}

/** Declares the statements of one order. Both begin at the place in the index of times, and end with the range. */
function statementsFor(isOldestFirst: boolean) {
  const direction = isOldestFirst ? asc : desc;
  const order = [direction(auditLog.at), direction(auditLog.id)];
  const isAfterPlace = ($: PartParams) => {
    const place = sql`(${$.placeAt}, ${$.placeId})`;
    return isOldestFirst
      ? sql`(${auditLog.at}, ${auditLog.id}) > ${place} AND ${auditLog.at} < ${$.until}`
      : sql`(${auditLog.at}, ${auditLog.id}) < ${place} AND ${auditLog.at} >= ${$.from}`;
  };
  return {
    /** Lists the entries that match among the first ones of a part. */
    list: selectMany((orm, $: SearchParams) => {
      const { text, actor, action, target } = $;
      const part = orm
        .select()
        .from(auditLog)
        .where(isAfterPlace($))
        .orderBy(...order)
        .limit($.examined)
        .as("part");
      const holds = (column: unknown) => sql`instr(lower(${column}), lower(${text})) > 0`;
      return orm
        .select()
        .from(part)
        .where(
          sql`(${actor} IS NULL OR ${part.actorId} = ${actor} OR ${part.actorKind} = ${actor})
          AND (${target} IS NULL OR ${part.targetId} = ${target})
          AND (${action} IS NULL OR ${part.action} = ${action}
            OR substr(${part.action}, 1, length(${action}) + 1) = ${action} || '.')
          AND (${text} IS NULL OR ${holds(part.summary)} OR ${holds(part.actorLabel)}
            OR ${holds(part.action)} OR ${holds(part.targetId)} OR ${holds(part.ip)})`,
        )
        .limit($.limit);
    }),
    /** Finds the entry of a part that has `skipped` entries before it. */
    findEnd: selectOne((orm, $: PartParams & { skipped: number }) =>
      orm
        .select({ at: auditLog.at, id: auditLog.id })
        .from(auditLog)
        .where(isAfterPlace($))
        .orderBy(...order)
        .limit(1)
        .offset($.skipped),
    ),
  };
}

const NEWEST_FIRST = statementsFor(false);
const OLDEST_FIRST = statementsFor(true);

const LAST = Number.MAX_SAFE_INTEGER;

/**
 * Returns entries of the audit log, by default newest first, in several turns of the event loop (`runInSlices`). Paging by
 * `before` is not affected by new entries.
 */
export function* searchAudit(reader: Reader, query: AuditQuery): Generator<number, AuditRow[]> {
  const { from = 0, until = LAST, before, isOldestFirst = false, limit } = query;
  const { list, findEnd } = isOldestFirst ? OLDEST_FIRST : NEWEST_FIRST;
  const filters = {
    text: query.text?.trim().slice(0, TEXT_MAX) || null,
    actor: query.actor ?? null,
    action: query.action ?? null,
    target: query.target ?? null,
  };
  const isWithin = before && (isOldestFirst ? before.at >= from : before.at < until);
  // Ids begin at 1.
  let place = isWithin ? before : { at: isOldestFirst ? from : until, id: 0 };
  const found: AuditRow[] = [];
  for (;;) {
    const part = { from, until, placeAt: place.at, placeId: place.id };
    const wanted = { examined: ROWS_PER_TURN, limit: limit - found.length };
    found.push(...list(reader, { ...filters, ...part, ...wanted }));
    if (found.length === limit) return found;
    const end = findEnd(reader, { ...part, skipped: ROWS_PER_TURN - 1 });
    if (end === undefined) return found;
    place = end;
    yield WHOLE_TURN;
  }
}

/** Lists the newest entries of the audit log, newest first, without filters. */
export const listNewestAudits = selectMany((orm, $: { limit: number }) =>
  orm.select().from(auditLog).orderBy(desc(auditLog.at), desc(auditLog.id)).limit($.limit),
);

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
