import { Database } from "bun:sqlite";

/** As many hours as are kept. */
export const HOURS = 35 * 24;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Gives every key of a database a past: counts of every hour, a last use, and for one in twenty a
 * refusal a day.
 */
export function makeOldAndBusy(file: string): void {
  const now = Date.now();
  const database = new Database(file, { strict: true });
  try {
    database.transaction(() => {
      database.run("UPDATE api_keys SET created_at = created_at - ?", [100 * DAY_MS]);
      database.run("UPDATE api_keys SET expires_at = ? + rowid % 60 * ? WHERE rowid % 3 = 0", [
        now + DAY_MS,
        DAY_MS,
      ]);
      database.run(
        `UPDATE api_key_values SET last_used_at = ? - unicode(substr(start, -1)) * ?,
         last_used_ip = '198.51.100.' || (unicode(substr(start, -1)) + unicode(substr(start, -2, 1)))`,
        [now, DAY_MS],
      );
      database.run(
        `WITH RECURSIVE ago (n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM ago WHERE n < ? - 1)
         INSERT INTO api_key_hours
         SELECT id, ? - n * ?, (api_keys.rowid * 7919 + n * n * 31) % 997, 3,
           iif(api_keys.rowid % 20 = 0 AND n % 24 = 0, 5, 0)
         FROM api_keys, ago`,
        [HOURS, now - (now % HOUR_MS), HOUR_MS],
      );
    })();
  } finally {
    database.close();
  }
}
