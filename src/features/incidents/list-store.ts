import { desc, sql } from "drizzle-orm";
import { selectMany } from "../../db";
import { incidentUpdateComponents, incidentUpdates } from "../../db/tables/incidents";
import { UPDATE_HEAD } from "./store";

/* Statements for lists of incidents that may be too large to be read whole. */

const naming = incidentUpdateComponents;

/**
 * The number of rows of incidents (`ids`: a JSON list), in its order: one for each component that an
 * update names, and one for an update that names none. Counting stops after `most` rows of all.
 */
export const listRowCounts = selectMany((orm, $: { ids: string; most: number }) =>
  orm
    .select({ id: sql<string>`id`, rows: sql<number>`count(*)` })
    .from(
      sql`(SELECT i.value AS id FROM json_each(${$.ids}) AS i
        CROSS JOIN incident_updates AS u ON u.incident_id = i.value
        LEFT JOIN incident_update_components AS n ON n.update_id = u.id
        LIMIT ${$.most})`,
    )
    .groupBy(sql`id`),
);

/** The newest updates of some incidents (`ids`: a JSON list) without their texts, at most `each` of one. */
export const listNewestHeads = selectMany((orm, $: { ids: string; each: number }) =>
  orm
    .select(UPDATE_HEAD)
    .from(sql`json_each(${$.ids}) AS i`)
    .crossJoin(incidentUpdates)
    .where(
      sql`${incidentUpdates.id} IN (SELECT id FROM incident_updates WHERE incident_id = i.value
        ORDER BY display_at DESC, id DESC LIMIT ${$.each})`,
    )
    .orderBy(desc(incidentUpdates.displayAt), desc(incidentUpdates.id)),
);

/** The first `most` components that some updates (`ids`: a JSON list) name, in the order of `ids`. */
export const listFirstNamings = selectMany((orm, $: { ids: string; most: number }) =>
  orm
    .select({ naming })
    .from(sql`json_each(${$.ids}) AS i`)
    .crossJoin(naming)
    .where(sql`${naming.updateId} = i.value`)
    .limit($.most),
);

/** The bytes of the texts of the newest updates of each of `ids` (a JSON list), at most `each` updates of one. */
export const listTextSizes = selectMany((orm, $: { ids: string; each: number }) =>
  orm
    .select({ id: sql<string>`i.value`, bytes: sql<number>`sum(octet_length(u.body))` })
    .from(sql`json_each(${$.ids}) AS i`)
    .crossJoin(sql`incident_updates AS u`)
    .where(
      sql`u.id IN (SELECT id FROM incident_updates WHERE incident_id = i.value
        ORDER BY display_at DESC, id DESC LIMIT ${$.each})`,
    )
    .groupBy(sql`i.value`),
);
