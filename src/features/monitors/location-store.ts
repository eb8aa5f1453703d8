/*
 * Evaluations of monitors at each of their locations, and the last results from there. None is hot: only monitors with
 * other locations than the server have rows.
 */
import { and, eq, getTableColumns, ne, sql } from "drizzle-orm";
import { LOCAL, type MonitorState } from "../../base/status";
import { deleteBy, setBy } from "../../db/rows";
import {
  insertAllInto,
  isAmong,
  mutate,
  type Reader,
  selectMany,
  selectOne,
} from "../../db/statements";
import { locationChecks, locationStates } from "../../db/tables/locations";
import { ofLocations, ofMonitors } from "./checks-store";
import { EVALUATION_COLUMNS, newEvaluation } from "./rules";

export type LocationStateRow = typeof locationStates.$inferSelect;

export const insertLocationStates = insertAllInto(locationStates);

/** Lists the evaluations of monitors (`nums`: a JSON list) at their present and former locations, in no order. */
export const listLocationStates = selectMany((orm, $: { nums: string }) =>
  orm.select().from(locationStates).where(isAmong(locationStates.monitorNum, $.nums)),
);

/**
 * Lists the evaluations of monitors (`nums`: a JSON list) at locations (`locationIds`: a JSON list), in no order, with
 * the time of the newest result from there; null without one, and for the server.
 */
export const listEvaluationsAt = selectMany((orm, $: { nums: string; locationIds: string }) =>
  orm
    .select({
      ...getTableColumns(locationStates),
      lastAt: sql<number | null>`(
        SELECT max(c.at) FROM location_checks AS c WHERE c.num = location_states.num)`,
    })
    .from(locationStates)
    .where(
      and(
        isAmong(locationStates.monitorNum, $.nums),
        isAmong(locationStates.locationId, $.locationIds),
      ),
    ),
);
export type EvaluationAt = ReturnType<typeof listEvaluationsAt>[number];

/** Lists the numbers of results from other locations of monitors (`nums`: a JSON list), also from former ones. */
export const listLocationNums = selectMany((orm, $: { nums: string }) =>
  orm
    .select({
      monitorNum: locationStates.monitorNum,
      num: locationStates.num,
      locationId: locationStates.locationId,
    })
    .from(locationStates)
    .where(and(isAmong(locationStates.monitorNum, $.nums), ne(locationStates.locationId, LOCAL))),
);

/** Returns the number of the next evaluation. */
export const findNextStateNum = selectOne((orm, _$: Record<string, never>) =>
  orm
    .select({ num: sql<number>`coalesce(max(${locationStates.num}), 0) + 1` })
    .from(locationStates),
);

export const deleteLocationState = deleteBy(locationStates, ["num"]);

/** Begins the evaluations of monitors (`monitorNums`: a JSON list) at all locations again, at a time (unix ms). */
export const resetLocationStatesOf = mutate(
  (orm, $: { monitorNums: string; state: MonitorState; at: number }) => {
    const { unreachableVia: _, ...columns } = newEvaluation($.state, $.at);
    const isOf = isAmong(locationStates.monitorNum, $.monitorNums);
    return orm.update(locationStates).set(columns).where(isOf);
  },
);

/** Lists the last stored result from each other location of monitors (`nums`: a JSON list). */
export const listLastLocationChecks = selectMany((orm, $: { nums: string }) =>
  orm
    .select({
      monitorNum: locationStates.monitorNum,
      locationId: locationStates.locationId,
      row: locationChecks,
    })
    .from(sql`json_each(${$.nums}) AS j`)
    .crossJoin(locationStates)
    .crossJoin(locationChecks)
    .where(
      sql`${locationStates.monitorNum} = j.value AND ${eq(locationChecks.monitorNum, locationStates.num)}
        AND ${locationChecks.at} = (
          SELECT max(c.at) FROM location_checks AS c WHERE c.num = ${locationStates.num})`,
    ),
);

export const saveAtLocation = setBy(locationStates, ["num"], EVALUATION_COLUMNS);

/** Returns the message of the last result of a monitor at one of its locations. */
export function findLastMessage(
  reader: Reader,
  { num, monitorNum, locationId }: Pick<LocationStateRow, "num" | "monitorNum" | "locationId">,
): string | null {
  const own = { before: Number.MAX_SAFE_INTEGER, limit: 1 };
  const [last] =
    locationId === LOCAL
      ? ofMonitors.listChecksBefore(reader, { ...own, monitorNum })
      : ofLocations.listChecksBefore(reader, { ...own, monitorNum: num });
  return last?.message ?? null;
}
