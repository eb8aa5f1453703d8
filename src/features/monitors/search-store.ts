/* Search of monitors. Not hot: every monitor is read once, in parts. */
import { and, asc, eq, isNull, sql } from "drizzle-orm";
import { declareSearch, isFound, type PartSearch } from "../../db/word-search";
import { selectMany } from "../../db/statements";
import { monitors, monitorStates } from "../../db/tables/monitors";
import { address, foldedName, rank } from "./overview-store";

const componentNames = sql`(SELECT group_concat(c.name, ' ') FROM monitor_components AS mc
  JOIN components AS c ON c.id = mc.component_id
  WHERE mc.monitor_id = ${monitors.id} AND c.deleted_at IS NULL)`;

const searchPart = selectMany((orm, $: PartSearch) =>
  orm
    .select({ row: monitors, state: monitorStates.state, rank, order: foldedName })
    .from(monitors)
    .innerJoin(monitorStates, eq(monitorStates.monitorNum, monitors.num))
    .where(
      and(
        isNull(monitors.deletedAt),
        isFound(
          monitors.id,
          sql`${monitors.name} || ' ' || ${address} || ' ' || ${monitors.id} || ' ' || coalesce(${componentNames}, '')`,
          $,
        ),
      ),
    )
    .orderBy(rank, asc(foldedName), asc(monitors.id))
    .limit($.limit),
);

type Found = ReturnType<typeof searchPart>[number];

/** Order of the list of monitors: the worst state first, then by name and id. */
function compare(a: Found, b: Found): number {
  if (a.rank !== b.rank) return a.rank - b.rank;
  if (a.order !== b.order) return a.order < b.order ? -1 : 1;
  return a.row.id < b.row.id ? -1 : 1;
}

/**
 * Lists the monitors whose name, address, id or components contain the words (`wordsOf`), worst first, in several
 * turns.
 */
export const searchMonitors = declareSearch(monitors, searchPart, compare);
