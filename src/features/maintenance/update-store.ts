import { and, desc, eq, getTableColumns, sql } from "drizzle-orm";
import { insertAllInto, insertInto, selectMany, selectOne } from "../../db";
import { maintenanceUpdates } from "../../db/tables/maintenances";

/* The updates of maintenances. */

export type MaintenanceUpdateRow = typeof maintenanceUpdates.$inferSelect;

export const insertMaintenanceUpdate = insertInto(maintenanceUpdates);
export const insertMaintenanceUpdates = insertAllInto(maintenanceUpdates);

/** The newest updates of some maintenances, at most `each` of one. `ids` is a JSON array. */
export const listUpdatesOfMaintenances = selectMany((orm, $: { ids: string; each: number }) =>
  orm
    .select(getTableColumns(maintenanceUpdates))
    .from(sql`json_each(${$.ids}) AS i`)
    .crossJoin(maintenanceUpdates)
    .where(
      sql`${maintenanceUpdates.id} IN (SELECT id FROM maintenance_updates
        WHERE maintenance_id = i.value ORDER BY display_at DESC, id DESC LIMIT ${$.each})`,
    )
    .orderBy(desc(maintenanceUpdates.displayAt), desc(maintenanceUpdates.id)),
);

export const findUpdate = selectOne((orm, $: { maintenanceId: string; id: string }) =>
  orm
    .select({ id: maintenanceUpdates.id, displayAt: maintenanceUpdates.displayAt })
    .from(maintenanceUpdates)
    .where(
      and(eq(maintenanceUpdates.id, $.id), eq(maintenanceUpdates.maintenanceId, $.maintenanceId)),
    ),
);

/** The updates of a maintenance behind a place, newest first. */
export const listUpdatesBehind = selectMany(
  (orm, $: { maintenanceId: string; beforeAt: number; beforeId: string; limit: number }) =>
    orm
      .select()
      .from(maintenanceUpdates)
      .where(
        and(
          eq(maintenanceUpdates.maintenanceId, $.maintenanceId),
          sql`(${maintenanceUpdates.displayAt}, ${maintenanceUpdates.id}) < (${$.beforeAt}, ${$.beforeId})`,
        ),
      )
      .orderBy(desc(maintenanceUpdates.displayAt), desc(maintenanceUpdates.id))
      .limit($.limit),
);

/** The updates that some maintenances were planned with. `ids` is a JSON array. */
export const listFirstUpdates = selectMany((orm, $: { ids: string }) =>
  orm
    .select({ maintenanceId: maintenanceUpdates.maintenanceId, notify: maintenanceUpdates.notify })
    .from(sql`json_each(${$.ids}) AS i`)
    .crossJoin(maintenanceUpdates)
    .where(
      sql`${maintenanceUpdates.id} = (SELECT min(id) FROM maintenance_updates
        WHERE maintenance_id = i.value)`,
    ),
);
