/*
 * Dependencies of monitors on others, their parents. None is hot: the engine asks for a failing parent only
 * after a failed check of a monitor that has parents.
 */
import { and, asc, eq, isNull, sql } from "drizzle-orm";
import { deleteBy } from "../../db/rows";
import { insertInto, mutate, selectMany, selectOne } from "../../db/statements";
import { monitorDependencies, monitors, monitorStates } from "../../db/tables/monitors";

const { monitorId, parentId, position } = monitorDependencies;

export const insertDependency = insertInto(monitorDependencies);

/** Deletes the dependencies of a monitor. */
export const deleteDependencies = deleteBy(monitorDependencies, ["monitorId"]);

/** Deletes the dependencies on a monitor. */
export const deleteDependenciesOn = deleteBy(monitorDependencies, ["parentId"]);

/** Lists all dependencies, those of each monitor in their order. */
export const listAllDependencies = selectMany((orm, _$: Record<string, never>) =>
  orm
    .select({ monitorId, parentId })
    .from(monitorDependencies)
    .orderBy(asc(monitorId), asc(position)),
);

/** Lists the parents of monitors (`monitorIds`: a JSON list), those of each monitor in their order. */
export const listParents = selectMany((orm, $: { monitorIds: string }) =>
  orm
    .select({
      monitorId,
      id: monitors.id,
      name: monitors.name,
      state: monitorStates.state,
    })
    .from(sql`json_each(${$.monitorIds}) AS j`)
    .crossJoin(monitorDependencies)
    .crossJoin(monitors)
    .crossJoin(monitorStates)
    .where(
      and(
        sql`${monitorId} = j.value`,
        eq(monitors.id, parentId),
        eq(monitorStates.monitorNum, monitors.num),
        isNull(monitors.deletedAt),
      ),
    )
    .orderBy(asc(position)),
);

/** Lists the monitors that depend on a monitor, oldest first. */
export const listDependents = selectMany((orm, $: { parentId: string }) =>
  orm
    .select({
      id: monitors.id,
      num: monitors.num,
      name: monitors.name,
      state: monitorStates.state,
      unreachableVia: monitorStates.unreachableVia,
    })
    .from(monitorDependencies)
    .crossJoin(monitors)
    .crossJoin(monitorStates)
    .where(
      and(
        eq(parentId, $.parentId),
        eq(monitors.id, monitorId),
        eq(monitorStates.monitorNum, monitors.num),
        isNull(monitors.deletedAt),
      ),
    )
    .orderBy(asc(monitors.id)),
);

/**
 * Finds the first parent of a monitor that is failing: see `isFailing`, or one of those whose last check has
 * failed (`failed`: a JSON list of ids). A paused or deleted one is none.
 */
export const findFailingParent = selectOne((orm, $: { monitorId: string; failed: string }) =>
  orm
    .select({ id: monitors.id, name: monitors.name })
    .from(monitorDependencies)
    .crossJoin(monitors)
    .crossJoin(monitorStates)
    .where(
      and(
        eq(monitorId, $.monitorId),
        eq(monitors.id, parentId),
        eq(monitorStates.monitorNum, monitors.num),
        isNull(monitors.deletedAt),
        sql`(CASE ${monitorStates.state}
          WHEN 'paused' THEN 0
          WHEN 'maintenance' THEN (SELECT c.outcome FROM monitor_checks AS c
            WHERE c.monitor_num = ${monitors.num} ORDER BY c.at DESC LIMIT 1) = 1
          ELSE ${monitorStates.state} IN ('down', 'unreachable') OR ${monitorStates.failures} > 0
            OR ${parentId} IN (SELECT value FROM json_each(${$.failed})) END)`,
      ),
    )
    .orderBy(asc(position))
    .limit(1),
);

/** Forgets that monitors were unreachable through a parent, which was deleted. */
export const clearUnreachableVia = mutate((orm, $: { parentId: string }) =>
  orm
    .update(monitorStates)
    .set({ unreachableVia: null })
    .where(
      sql`${monitorStates.unreachableVia} = ${$.parentId} AND ${monitorStates.monitorNum} IN (
        SELECT m.num FROM monitor_dependencies AS d CROSS JOIN monitors AS m ON m.id = d.monitor_id
        WHERE d.parent_id = ${$.parentId})`,
    ),
);
