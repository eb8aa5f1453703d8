import { Database } from "bun:sqlite";

/** Tables of a history, with the columns of Uptime Kuma 1.23 and 2.5. */
const MONITOR = `CREATE TABLE monitor (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, name VARCHAR(150),
  active BOOLEAN NOT NULL DEFAULT 1, interval INTEGER NOT NULL DEFAULT 20, type VARCHAR(20), url TEXT,
  retry_interval INTEGER NOT NULL DEFAULT 0,
  accepted_statuscodes_json TEXT NOT NULL DEFAULT '["200-299"]')`;
const BEATS = `id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, important BOOLEAN NOT NULL DEFAULT 0,
  monitor_id INTEGER NOT NULL REFERENCES monitor (id) ON DELETE CASCADE, status SMALLINT NOT NULL, msg TEXT,
  time DATETIME NOT NULL, ping INTEGER, duration INTEGER NOT NULL DEFAULT 0, down_count INTEGER NOT NULL DEFAULT 0`;
const SUMS = `id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, monitor_id INTEGER NOT NULL,
  timestamp INTEGER NOT NULL, ping FLOAT NOT NULL, up INTEGER NOT NULL, down INTEGER NOT NULL,
  ping_min FLOAT NOT NULL DEFAULT 0, ping_max FLOAT NOT NULL DEFAULT 0, extras TEXT`;

/** Returns the indexes of heartbeats, which decide how queries are planned. */
export function beatIndexes(version: 1 | 2): string[] {
  const important =
    version === 1
      ? "monitor_important_time_index ON heartbeat (monitor_id, important, time)"
      : "monitor_important_time_index ON heartbeat (monitor_id, time) WHERE important = 1";
  return [
    "monitor_id ON heartbeat (monitor_id)",
    "important ON heartbeat (important)",
    "monitor_time_index ON heartbeat (monitor_id, time)",
    important,
  ].map((index) => `CREATE INDEX ${index}`);
}

/** Tables with the sums of Uptime Kuma 2. */
export const SUM_TABLES = ["stat_minutely", "stat_hourly", "stat_daily"] as const;

/** Creates the tables of a history in a new database in WAL mode, as the given version of Uptime Kuma has them. */
export function createKumaDatabase(path: string, version: 1 | 2 = 2): Database {
  const sqlite = new Database(path, { create: true, strict: true });
  sqlite.run("PRAGMA journal_mode = WAL");
  sqlite.run(MONITOR);
  const added =
    version === 2 ? ", end_time DATETIME, retries INTEGER NOT NULL DEFAULT 0, response TEXT" : "";
  sqlite.run(`CREATE TABLE heartbeat (${BEATS}${added})`);
  for (const index of beatIndexes(version)) sqlite.run(index);
  if (version === 1) return sqlite;
  for (const table of SUM_TABLES) {
    sqlite.run(`CREATE TABLE ${table} (${SUMS})`);
    sqlite.run(`CREATE UNIQUE INDEX ${table}_unique ON ${table} (monitor_id, timestamp)`);
  }
  return sqlite;
}
