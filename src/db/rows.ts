/*
 * Statements that only compare columns of one table with values: `const findTemplate = findBy(incidentTemplates, ["id"])`,
 * then `findTemplate(reader, { id })`. Each has one constant text. Statements that join, count or compute are written
 * with `selectOne`, `selectMany` and `mutate`.
 */
import { and, eq, getTableColumns, type SQL } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import { mutate, type Reader, selectMany, selectOne, type Tx } from "./statements";

type RowOf<Table extends SQLiteTable> = Table["$inferSelect"];
type NameIn<Table extends SQLiteTable> = keyof RowOf<Table> & string;
/** Values to compare columns with. No column equals NULL; see `Conditions` for one that must be NULL. */
type Compared<Table extends SQLiteTable, Name extends NameIn<Table>> = {
  [Column in Name]: NonNullable<RowOf<Table>[Column]>;
};

/** Part of a statement that is the same in every call. */
interface Conditions {
  /** Further condition without parameters, such as `isNull(incidents.deletedAt)`. */
  where?: SQL;
}

/** Declares a query for the row whose columns `by` have the given values. They must name at most one. */
export function findBy<Table extends SQLiteTable, By extends NameIn<Table>>(
  table: Table,
  by: readonly By[],
  { where }: Conditions = {},
): (reader: Reader, values: Compared<Table, By>) => RowOf<Table> | undefined {
  return selectOne((orm, $: Compared<Table, By>) =>
    orm
      .select()
      .from(table as SQLiteTable)
      .where(areEqual(table, by, $, where)),
  );
}

/** Declares a query for the rows whose columns `by` have the given values, in an order. */
export function listBy<Table extends SQLiteTable, By extends NameIn<Table>>(
  table: Table,
  by: readonly By[],
  { where, order = [] }: Conditions & { order?: readonly SQL[] } = {},
): (reader: Reader, values: Compared<Table, By>) => RowOf<Table>[] {
  return selectMany((orm, $: Compared<Table, By>) =>
    orm
      .select()
      .from(table as SQLiteTable)
      .where(areEqual(table, by, $, where))
      .orderBy(...order),
  );
}

/** Declares a statement that writes the columns `set` of the rows whose columns `by` have the given values. */
export function setBy<
  Table extends SQLiteTable,
  By extends NameIn<Table>,
  Set extends NameIn<Table>,
>(
  table: Table,
  by: readonly By[],
  set: readonly Set[],
): (tx: Tx, values: Compared<Table, By> & Pick<RowOf<Table>, Set>) => number {
  return mutate((orm, $: Compared<Table, By> & Pick<RowOf<Table>, Set>) =>
    orm
      .update(table as SQLiteTable)
      .set(Object.fromEntries(set.map((name) => [name, $[name]])))
      .where(areEqual(table, by, $)),
  );
}

/** Declares a statement that deletes the rows whose columns `by` have the given values. Returns their number. */
export function deleteBy<Table extends SQLiteTable, By extends NameIn<Table>>(
  table: Table,
  by: readonly By[],
): (tx: Tx, values: Compared<Table, By>) => number {
  return mutate((orm, $: Compared<Table, By>) =>
    orm.delete(table as SQLiteTable).where(areEqual(table, by, $)),
  );
}

/** Condition of these and of written statements: the columns `by` have the given values. */
export function areEqual<Table extends SQLiteTable, By extends NameIn<Table>>(
  table: Table,
  by: readonly By[],
  $: NoInfer<Compared<Table, By>>,
  where?: SQL,
): SQL | undefined {
  const columns = getTableColumns(table) as unknown as Record<By, SQLiteColumn>;
  return and(...by.map((name) => eq(columns[name], $[name])), where);
}
