import { Database } from "bun:sqlite";

type Row = Record<string, unknown>;

/** Reads all rows of all tables by table, except the history of migrations. */
export function readAllTables(sqlite: Database): Record<string, Row[]> {
  const tables = sqlite
    .query<{ name: string }, []>(
      // Without virtual tables, which are made from the others, and those in which they store their content.
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name <> 'schema_migrations' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    )
    .all();
  return Object.fromEntries(
    tables.map(({ name }) => [
      name,
      sqlite.query<Row, []>(`SELECT * FROM ${name} ORDER BY 1, 2`).all(),
    ]),
  );
}

/** Reads all committed rows of a database file by table, as another process would. */
export function dumpOf(path: string): Record<string, Row[]> {
  using reader = new Database(path, { readonly: true });
  return readAllTables(reader);
}
