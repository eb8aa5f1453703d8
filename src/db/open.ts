import { Database } from "bun:sqlite";

/** "Alcl" in ASCII: marks a file as Allclear's database (SQLite's `application_id`). */
export const APPLICATION_ID = 0x416c636c;

/** How long the command line waits for another process's transaction. The server never waits. */
export const COMMAND_BUSY_TIMEOUT_MS = 5_000;

/**
 * Opens a database with the settings that the guarantees rest on: WAL with `synchronous=FULL`, so
 * that what was acknowledged survives a power cut; foreign keys enforced; parameters strict.
 *
 * `busyTimeoutMs` blocks the thread while another process writes: 0 in a server.
 * Throws when the file system cannot do WAL, as some network file systems cannot.
 */
export function openSqlite(path: string, busyTimeoutMs: number): Database {
  const sqlite = new Database(path, { create: true, readwrite: true, strict: true });
  sqlite.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  const isNew = pragma(sqlite, "page_count") === 0;
  if (isNew) {
    // Only a new file can choose this; it lets trimmed history give its space back without VACUUM.
    sqlite.run("PRAGMA auto_vacuum = INCREMENTAL");
    sqlite.run(`PRAGMA application_id = ${APPLICATION_ID}`);
  }
  const mode = pragma(sqlite, "journal_mode = WAL");
  if (mode !== "wal" && path !== ":memory:") {
    sqlite.close();
    throw new Error(
      `SQLite cannot use write-ahead logging on ${path} (it answered "${mode}"). Put the data directory on a local file system.`,
    );
  }
  sqlite.run("PRAGMA synchronous = FULL");
  sqlite.run("PRAGMA foreign_keys = ON");
  sqlite.run("PRAGMA trusted_schema = OFF");
  sqlite.run(`PRAGMA journal_size_limit = ${64 * 1024 * 1024}`);
  return sqlite;
}

/** The single value that a pragma answers with. */
export function pragma(sqlite: Database, text: string): unknown {
  const row = sqlite.prepare<Record<string, unknown>, []>(`PRAGMA ${text}`).get();
  return row ? Object.values(row)[0] : undefined;
}

/** Whether SQLite finds the file sound, `integrity_check` and foreign keys both. */
export function isSound(sqlite: Database): boolean {
  return (
    pragma(sqlite, "integrity_check") === "ok" &&
    sqlite.prepare("PRAGMA foreign_key_check").all().length === 0
  );
}
