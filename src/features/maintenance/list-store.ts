import { asc, sql } from "drizzle-orm";
import { selectMany } from "../../db";
import { components } from "../../db/tables/components";
import { maintenanceComponents } from "../../db/tables/maintenances";

/* Statements for lists of maintenance that may be too large to be read whole. */

const chosen = maintenanceComponents;
export const COMPONENT = {
  maintenanceId: chosen.maintenanceId,
  id: chosen.componentId,
  name: chosen.name,
};

/**
 * The number of components of maintenances (`ids`: a JSON array), in its order; 1 for one without
 * components. Counting stops after `most` of all.
 */
export const listRowCounts = selectMany((orm, $: { ids: string; most: number }) =>
  orm
    .select({ id: sql<string>`id`, rows: sql<number>`count(*)` })
    .from(
      sql`(SELECT i.value AS id FROM json_each(${$.ids}) AS i
        LEFT JOIN maintenance_components AS c ON c.maintenance_id = i.value
        LIMIT ${$.most})`,
    )
    .groupBy(sql`id`),
);

/** The components of some maintenances, at most `each` of one, in the order of their page. `ids` is a JSON array. */
export const listFirstComponents = selectMany((orm, $: { ids: string; each: number }) =>
  orm
    .select(COMPONENT)
    .from(sql`json_each(${$.ids}) AS i`)
    .crossJoin(chosen)
    .crossJoin(components)
    .where(
      sql`${chosen.maintenanceId} = i.value AND ${components.id} = ${chosen.componentId}
        AND ${chosen.componentId} IN (SELECT component_id FROM maintenance_components
          WHERE maintenance_id = i.value ORDER BY component_id LIMIT ${$.each})`,
    )
    .orderBy(asc(components.position), asc(components.id)),
);

/** The bytes of the texts of the newest updates of each of `ids` (a JSON list), at most `each` updates of one. */
export const listTextSizes = selectMany((orm, $: { ids: string; each: number }) =>
  orm
    .select({ id: sql<string>`i.value`, bytes: sql<number>`sum(octet_length(u.body))` })
    .from(sql`json_each(${$.ids}) AS i`)
    .crossJoin(sql`maintenance_updates AS u`)
    .where(
      sql`u.id IN (SELECT id FROM maintenance_updates WHERE maintenance_id = i.value
        ORDER BY display_at DESC, id DESC LIMIT ${$.each})`,
    )
    .groupBy(sql`i.value`),
);
