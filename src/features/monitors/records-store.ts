/*
 * Monitors as lists show them. None is hot; each reads only the rows that are shown, in the order
 * of an index, and sorts only for the monitors of one page or component.
 */
import { and, desc, eq, isNull, type SQL, sql } from "drizzle-orm";
import { type Reader, selectMany, selectOne } from "../../db/statements";
import { incidents } from "../../db/tables/incidents";
import { monitorRollups, monitors, monitorStates } from "../../db/tables/monitors";
import { pages } from "../../db/tables/pages";
import type { MonitorState, MonitorType } from "../../base/status";
import { HOUR_MS } from "../../base/time";

const ROWS = { row: monitors, state: monitorStates };

/** Filters of the list; null matches everything. */
interface ListParams {
  pageId: string | null;
  componentId: string | null;
  state: MonitorState | null;
  type: MonitorType | null;
  /** `,` and a tag as a JSON text, case-insensitive for ASCII. */
  tag: string | null;
  group: string | null;
  /** Text within the name, case-insensitive for ASCII. */
  search: string | null;
  /** Only ids below this one. */
  before: string;
  limit: number;
}

export const findMonitorWithState = selectOne((orm, $: { id: string }) =>
  orm
    .select(ROWS)
    .from(monitors)
    .innerJoin(monitorStates, eq(monitorStates.monitorNum, monitors.num))
    .where(and(eq(monitors.id, $.id), isNull(monitors.deletedAt))),
);

/**
 * Returns the condition that a monitor has a tag. In the JSON list, a quotation mark follows a comma only
 * at the start of a text, since quotation marks within texts follow a backslash.
 */
export const hasTag = (tag: string | null) =>
  sql`(${tag} IS NULL OR instr(lower(',' || substr(${monitors.tags}, 2)), lower(${tag})) > 0)`;

/** Returns the condition that a monitor has a group. */
export const isInGroup = (group: string | null) =>
  sql`(${group} IS NULL OR ${monitors.group} = ${group})`;

/** Returns the statement for one kind of filter, with constant text. */
function listStatement(where: ($: ListParams) => SQL) {
  return selectMany((orm, $: ListParams) =>
    orm
      .select(ROWS)
      .from(monitors)
      .crossJoin(monitorStates)
      .where(
        and(
          sql`${monitors.id} < ${$.before}`,
          isNull(monitors.deletedAt),
          eq(monitorStates.monitorNum, monitors.num),
          sql`(${$.state} IS NULL OR ${monitorStates.state} = ${$.state})`,
          sql`(${$.type} IS NULL OR ${monitors.type} = ${$.type})`,
          hasTag($.tag),
          isInGroup($.group),
          sql`(${$.search} IS NULL OR instr(lower(${monitors.name}), lower(${$.search})) > 0)`,
          where($),
        ),
      )
      .orderBy(desc(monitors.id))
      .limit($.limit),
  );
}

const listAll = listStatement(() => sql`TRUE`);
const listOfPage = listStatement(
  ($) => sql`${monitors.id} IN (SELECT mc.monitor_id FROM components AS c
    CROSS JOIN monitor_components AS mc ON mc.component_id = c.id
    WHERE c.page_id = ${$.pageId} AND c.deleted_at IS NULL
      AND (${$.componentId} IS NULL OR c.id = ${$.componentId}))`,
);
const listOfComponent = listStatement(
  ($) => sql`${monitors.id} IN (SELECT mc.monitor_id FROM monitor_components AS mc
    WHERE mc.component_id = ${$.componentId})`,
);

/** Lists monitors, newest first. */
export function listMonitorRows(reader: Reader, params: ListParams) {
  if (params.pageId !== null) return listOfPage(reader, params);
  return params.componentId === null ? listAll(reader, params) : listOfComponent(reader, params);
}

/** Lists the incidents to which outages of a monitor belong and that are not deleted, newest first. */
export const listIncidentsOfMonitor = selectMany((orm, $: { monitorId: string; limit: number }) =>
  orm
    .select({
      id: incidents.id,
      name: incidents.name,
      status: incidents.status,
      impact: incidents.impact,
      draft: incidents.draft,
      startedAt: incidents.startedAt,
      resolvedAt: incidents.resolvedAt,
    })
    .from(incidents)
    .innerJoin(pages, eq(pages.id, incidents.pageId))
    .where(
      and(
        sql`${incidents.id} IN (
          SELECT o.incident_id FROM incident_outages AS o WHERE o.monitor_id = ${$.monitorId})`,
        isNull(incidents.deletedAt),
        isNull(pages.deletedAt),
      ),
    )
    .orderBy(desc(incidents.id))
    .limit($.limit),
);

/** Lists the average response times of monitors (`nums`: a JSON list) by hour from `from` on. */
export const listHourAverages = selectMany((orm, $: { nums: string; from: number }) =>
  orm
    .select({
      monitorNum: monitorRollups.monitorNum,
      at: monitorRollups.at,
      latencySum: monitorRollups.latencySum,
      answers: monitorRollups.answers,
    })
    .from(sql`json_each(${$.nums}) AS j`)
    .crossJoin(monitorRollups)
    .where(
      sql`${monitorRollups.monitorNum} = j.value AND ${monitorRollups.size} = ${sql.raw(String(HOUR_MS))}
        AND ${monitorRollups.at} >= ${$.from}`,
    ),
);
