/* Kept apart from `rows.ts`, which a server loads before it is ready: it replaces no row by then. */
import { getTableColumns, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { mutate, type Tx } from "./statements";

/**
 * Declares a statement that inserts a whole row, or replaces the one with the same key. Its columns are `key`, which
 * must be the primary key of the table or one of its unique indexes:
 * `const saveRun = replaceIn(heartbeatRuns, ["monitorNum", "rid"])`.
 */
export function replaceIn<Table extends SQLiteTable>(
  table: Table,
  key: readonly (keyof Table["$inferSelect"] & string)[],
): (tx: Tx, row: Table["$inferSelect"]) => number {
  const columns: Record<string, SQLiteColumn> = getTableColumns(table as SQLiteTable);
  const names = Object.keys(columns);
  const others = Object.entries(columns).filter(([name]) => !key.includes(name));
  const excluded = others.map(([name, { name: column }]) => [name, sql.raw(`excluded.${column}`)]);
  return mutate((orm, $: Table["$inferSelect"]) =>
    orm
      .insert(table as SQLiteTable)
      .values(Object.fromEntries(names.map((name) => [name, $[name]])))
      .onConflictDoUpdate({
        target: key.map((name) => columns[name] as SQLiteColumn),
        set: Object.fromEntries(excluded),
      }),
  );
}
