/**
 * An opaque place in a list: where the last page ended. It names a row by its sort key rather than
 * counting rows, so it stays right while rows are inserted.
 */
export function encodeCursor(position: string | number): string {
  return Buffer.from(JSON.stringify(position)).toString("base64url");
}

/** The position behind a cursor, or undefined for a text that no `encodeCursor` wrote. */
export function decodeCursor(cursor: string): string | number | undefined {
  try {
    const position: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    const known = typeof position === "string" || Number.isSafeInteger(position);
    return known && encodeCursor(position as string | number) === cursor
      ? (position as string | number)
      : undefined;
  } catch {
    return undefined;
  }
}
