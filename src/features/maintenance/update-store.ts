import { and, count, eq, getTableColumns, sql } from "drizzle-orm";
import { insertAllInto, insertInto, mutate, selectMany, selectOne } from "../../db/statements";
import { maintenanceUpdates } from "../../db/tables/maintenances";
import { isAmongNewest, newestFirst } from "../timeline/store";

/* Statements for the updates of maintenances. */

const { id, maintenanceId, body, displayAt, notify } = maintenanceUpdates;

export type MaintenanceUpdateRow = typeof maintenanceUpdates.$inferSelect;

export const insertMaintenanceUpdate = insertInto(maintenanceUpdates);
export const deleteMaintenanceUpdates = mutate((orm, $: { maintenanceId: string }) =>
  orm.delete(maintenanceUpdates).where(eq(maintenanceId, $.maintenanceId)),
);
export const insertMaintenanceUpdates = insertAllInto(maintenanceUpdates);

/** Lists the newest updates of maintenances (`ids`: a JSON list), at most `each` of one. */
export const listNewestUpdates = selectMany((orm, $: { ids: string; each: number }) =>
  orm
    .select(getTableColumns(maintenanceUpdates))
    .from(sql`json_each(${$.ids}) AS i`)
    .crossJoin(maintenanceUpdates)
    .where(isAmongNewest(id, maintenanceId, $.each))
    .orderBy(...newestFirst(maintenanceUpdates)),
);

export const findUpdate = selectOne((orm, $: { maintenanceId: string; id: string }) =>
  orm
    .select({ id, displayAt })
    .from(maintenanceUpdates)
    .where(and(eq(id, $.id), eq(maintenanceId, $.maintenanceId))),
);

/** Lists the updates of a maintenance that are older than a cursor, newest first. */
export const listUpdatesBefore = selectMany(
  (orm, $: { maintenanceId: string; beforeAt: number; beforeId: string; limit: number }) =>
    orm
      .select()
      .from(maintenanceUpdates)
      .where(
        and(
          eq(maintenanceId, $.maintenanceId),
          sql`(${displayAt}, ${id}) < (${$.beforeAt}, ${$.beforeId})`,
        ),
      )
      .orderBy(...newestFirst(maintenanceUpdates))
      .limit($.limit),
);

/** Counts updates with one of some texts (`bodies`: a JSON list) at one of some times (`times`: a JSON list). */
export const countUpdates = selectOne(
  (orm, $: { maintenanceId: string; bodies: string; times: string }) =>
    orm
      .select({ count: count() })
      .from(maintenanceUpdates)
      .where(
        and(
          eq(maintenanceId, $.maintenanceId),
          sql`${body} IN (SELECT value FROM json_each(${$.bodies}))`,
          sql`${displayAt} IN (SELECT value FROM json_each(${$.times}))`,
        ),
      ),
);

/** Lists the updates that maintenances (`ids`: a JSON list) were planned with. */
export const listFirstUpdates = selectMany((orm, $: { ids: string }) =>
  orm
    .select({ maintenanceId, notify })
    .from(sql`json_each(${$.ids}) AS i`)
    .crossJoin(maintenanceUpdates)
    .where(sql`${id} = (SELECT min(id) FROM maintenance_updates WHERE maintenance_id = i.value)`),
);
