import { desc, getTableName, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { selectMany } from "../../db";
import type { incidentUpdates } from "../../db/tables/incidents";
import type { maintenanceUpdates } from "../../db/tables/maintenances";

type UpdateTable = typeof incidentUpdates | typeof maintenanceUpdates;

/** Order of updates: newest first. */
export const newestFirst = ({ displayAt, id }: UpdateTable): SQL[] => [desc(displayAt), desc(id)];

/**
 * Condition: `id` is one of the `each` newest updates of the incident or maintenance `i.value`.
 * `ownerId` is the column of the table with the id of the latter.
 */
export function isAmongNewest(id: SQL | SQLiteColumn, ownerId: SQLiteColumn, each: number): SQL {
  const updates = sql.raw(getTableName(ownerId.table));
  return sql`${id} IN (SELECT id FROM ${updates} WHERE ${sql.raw(ownerId.name)} = i.value
    ORDER BY display_at DESC, id DESC LIMIT ${each})`;
}

/**
 * Builds the statement that returns the bytes of the texts of at most `each` newest updates of
 * several incidents or maintenances (`ids`: a JSON list).
 */
export const textSizes = (ownerId: SQLiteColumn) =>
  selectMany((orm, $: { ids: string; each: number }) =>
    orm
      .select({ id: sql<string>`i.value`, bytes: sql<number>`sum(octet_length(u.body))` })
      .from(sql`json_each(${$.ids}) AS i`)
      .crossJoin(sql`${sql.raw(getTableName(ownerId.table))} AS u`)
      .where(isAmongNewest(sql`u.id`, ownerId, $.each))
      .groupBy(sql`i.value`),
  );
