import type { Database } from "bun:sqlite";
import { columnsOf, hasCredentials, IS_LATER, NEWER_VERSION, type Rule } from "./credential-tables";

/** SQL that selects the ids of monitors that both databases have and that were changed after the backup. */
const CHANGED_MONITORS = `SELECT r.id FROM main.monitors AS r
  JOIN replaced.monitors AS o ON o.id = r.id
  WHERE o.deleted_at IS NULL AND r.deleted_at IS NULL AND ${IS_LATER}`;

/** Rules that keep ended tokens of heartbeats ended. */
export const TOKEN_RULES: readonly Rule[] = [
  {
    // Only in a backup from before the table of tokens.
    what: "rotated heartbeat token",
    table: "monitors",
    optionalColumn: "token_hash",
    sql: `UPDATE main.monitors AS r SET token_hash = o.token_hash, ${NEWER_VERSION}
      FROM replaced.monitors AS o
      WHERE o.id = r.id AND o.token_hash IS NOT NULL AND r.token_hash IS NOT NULL
        AND o.token_hash <> r.token_hash AND ${IS_LATER}`,
  },
  {
    what: "ended heartbeat token",
    table: "monitor_tokens",
    alsoReads: "monitors",
    sql: `DELETE FROM main.monitor_tokens WHERE monitor_id IN (${CHANGED_MONITORS})
        AND hash NOT IN (SELECT hash FROM replaced.monitor_tokens)`,
  },
  {
    what: "new heartbeat token",
    table: "monitor_tokens",
    alsoReads: "monitors",
    sql: `INSERT INTO main.monitor_tokens (hash, monitor_id, kind, created_at)
      SELECT hash, monitor_id, kind, created_at FROM replaced.monitor_tokens
      WHERE monitor_id IN (${CHANGED_MONITORS})
        AND hash NOT IN (SELECT hash FROM main.monitor_tokens)`,
  },
  {
    // The last rule about tokens, since it makes the restored monitors the later ones.
    table: "monitors",
    alsoReads: "monitor_tokens",
    sql: `UPDATE main.monitors AS r SET ${NEWER_VERSION} FROM replaced.monitors AS o
      WHERE o.id = r.id AND r.id IN (${CHANGED_MONITORS})
        AND r.id IN (SELECT monitor_id FROM main.monitor_tokens)`,
  },
];

/**
 * Adds the tokens of heartbeats to `replaced` as the other schema stores them: in a table, or in a column
 * of the monitors. The restored database may have either schema.
 */
export function addTokensOfOtherSchema(sqlite: Database): void {
  const hasColumn = columnsOf(sqlite, "replaced", "monitors").has("token_hash");
  const hasTable = hasCredentials(sqlite, "replaced", "monitor_tokens");
  if (hasColumn && !hasTable) {
    sqlite.run(`CREATE TABLE replaced.monitor_tokens AS
      SELECT token_hash AS hash, id AS monitor_id, 'native' AS kind, updated_at AS created_at
      FROM replaced.monitors WHERE token_hash IS NOT NULL`);
  }
  if (hasTable && !hasColumn && hasCredentials(sqlite, "replaced", "monitors")) {
    sqlite.run("ALTER TABLE replaced.monitors ADD COLUMN token_hash");
    sqlite.run(`UPDATE replaced.monitors AS o SET token_hash = (
      SELECT hash FROM replaced.monitor_tokens WHERE monitor_id = o.id AND kind = 'native')`);
  }
}
