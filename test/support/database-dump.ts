import { Database } from "bun:sqlite";

/** Every committed row of every table of a database in a file, as another process would read them. */
export function dumpOf(path: string): Record<string, unknown[]> {
  const reader = new Database(path, { readonly: true });
  try {
    const tables = reader
      .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .all();
    return Object.fromEntries(
      tables.map(({ name }) => [name, reader.query(`SELECT * FROM "${name}"`).all()]),
    );
  } finally {
    reader.close();
  }
}
