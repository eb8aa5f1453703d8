/** SQLite's symbolic code of an error, through Drizzle's wrapper if there is one. */
export function sqliteCode(error: unknown): string | undefined {
  for (let link = error; link instanceof Error; link = link.cause) {
    const code = (link as { code?: unknown }).code;
    if (typeof code === "string" && code.startsWith("SQLITE_")) return code;
  }
  return undefined;
}

/** Another connection holds the database; waiting may help. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && (code.startsWith("SQLITE_BUSY") || code === "SQLITE_LOCKED");
}

// What the machine, not the caller, has to answer for: no space, no memory, a failing disk.
const RESOURCE_FAILURE =
  /^SQLITE_(FULL|IOERR|NOMEM|BUSY|LOCKED|READONLY|CANTOPEN|CORRUPT|NOTADB|PROTOCOL|INTERRUPT)/;

export function isResourceFailure(error: unknown): boolean {
  return RESOURCE_FAILURE.test(sqliteCode(error) ?? "");
}
