import { asc, sql } from "drizzle-orm";
import { type Reader, selectMany } from "../db/statements";
import { auditLog } from "../db/tables/events";

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
