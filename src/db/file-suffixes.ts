/** Suffixes of the files that SQLite keeps next to a database in use, and after a crash. */
export const COMPANION_SUFFIXES = ["-wal", "-shm", "-journal"] as const;

/** Returns the path of a database's write-ahead log. */
export function walOf(database: string): string {
  return `${database}-wal`;
}

/** Returns the path of the shared memory by which processes use a database's write-ahead log. */
export function shmOf(database: string): string {
  return `${database}-shm`;
}

/** Returns the path of a database's rollback journal. */
export function journalOf(database: string): string {
  return `${database}-journal`;
}
