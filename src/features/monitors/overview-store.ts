/*
 * Statements of the dashboard: the list of monitors and its search, the incidents of a monitor, and what needs
 * attention. The list, its counts and the search read every monitor once, in parts. The times of the last 30 days are
 * summed over at most `spansMax` spans of each listed monitor.
 */
import { and, asc, desc, eq, isNull, sql } from "drizzle-orm";
import type { MonitorState, MonitorType } from "../../base/status";
import { MINUTE_MS } from "../../base/time";
import { compareValues, declareOrders, type Place, rankAmong } from "../../db/orders";
import { declareParts, isInPart, type Part } from "../../db/parts";
import { selectMany, selectOne } from "../../db/statements";
import { components } from "../../db/tables/components";
import { incidents } from "../../db/tables/incidents";
import { incidentOutages, monitors, monitorSpans, monitorStates } from "../../db/tables/monitors";
import { pages } from "../../db/tables/pages";
import { isFound, type PartSearch } from "../../db/word-search";
import { hasTag, isInGroup } from "./store";

/** States in the order of the list, worst first. */
export const WORST_FIRST = [
  "down",
  "unreachable",
  "degraded",
  "no_data",
  "pending",
  "maintenance",
  "up",
  "paused",
] as const satisfies readonly MonitorState[];

/** Length of the periods into which the last day is divided. */
export const PERIOD_MS = 30 * MINUTE_MS;

const rank = rankAmong(monitorStates.state, WORST_FIRST);
const foldedName = sql<string>`lower(${monitors.name})`;

/** Filters of the list; null matches everything. */
interface Filters extends Part {
  pageId: string | null;
  type: MonitorType | null;
  /** See `hasTag`. */
  tag: string | null;
  group: string | null;
  /** Text within the name, the address or the name of a component, case-insensitive for ASCII. */
  search: string | null;
}

const fieldOf = (name: string) => sql`json_extract(${monitors.config}, ${sql.raw(`'$.${name}'`)})`;
const url = sql`replace(${fieldOf("url")}, '#', '?')`;
// Searches must not reveal secrets, so they read only those parts of a configuration that the list shows:
// of a URL, the part before the query and the fragment.
const address = sql`coalesce(substr(${url}, 1, instr(${url} || '?', '?') - 1),
  ${fieldOf("container")} || ' on ' || ${fieldOf("host")}, ${fieldOf("host")}, ${fieldOf("name")},
  ${fieldOf("domain")}, ${fieldOf("target")}, '')`;

const matches = ($: Filters) =>
  and(
    isInPart(monitors.id, $),
    isNull(monitors.deletedAt),
    eq(monitorStates.monitorNum, monitors.num),
    sql`(${$.type} IS NULL OR ${monitors.type} = ${$.type})`,
    hasTag($.tag),
    isInGroup($.group),
    sql`(${$.pageId} IS NULL OR EXISTS (SELECT 1 FROM monitor_components AS mc
      JOIN components AS c ON c.id = mc.component_id
      WHERE mc.monitor_id = ${monitors.id} AND c.page_id = ${$.pageId} AND c.deleted_at IS NULL))`,
    sql`(${$.search} IS NULL
      OR instr(lower(${monitors.name}), lower(${$.search})) > 0
      OR instr(lower(${address}), lower(${$.search})) > 0
      OR EXISTS (SELECT 1 FROM monitor_components AS mc
        JOIN components AS c ON c.id = mc.component_id
        WHERE mc.monitor_id = ${monitors.id} AND c.deleted_at IS NULL
          AND instr(lower(c.name), lower(${$.search})) > 0))`,
  );

const isIn = ($: { state: MonitorState | null }) =>
  sql`(${$.state} IS NULL OR ${monitorStates.state} = ${$.state})`;

interface Ranked {
  rank: number;
  order: string;
  row: { id: string };
}

/** Compares monitors by rank, name and id: the worst first. */
function compareWorst(a: Ranked, b: Ranked): number {
  return a.rank - b.rank || compareValues(a.order, b.order) || compareValues(a.row.id, b.row.id);
}

/** Lists monitors with their states, worst first, after the place of another monitor. */
export const listWorstFirst = declareParts(
  monitors,
  selectMany(
    (
      orm,
      $: Filters & {
        state: MonitorState | null;
        afterRank: number;
        afterName: string;
        afterId: string;
        limit: number;
      },
    ) =>
      orm
        .select({ row: monitors, state: monitorStates, rank, order: foldedName })
        .from(monitors)
        .crossJoin(monitorStates)
        .where(
          and(
            matches($),
            isIn($),
            sql`(${rank}, ${foldedName}, ${monitors.id}) > (${$.afterRank}, ${$.afterName}, ${$.afterId})`,
          ),
        )
        .orderBy(rank, asc(foldedName), asc(monitors.id))
        .limit($.limit),
  ),
  compareWorst,
);

const lastCheck = (column: string) => sql`(SELECT ${sql.raw(column)} FROM monitor_checks AS last
  WHERE last.monitor_num = ${monitors.num} ORDER BY last.at DESC LIMIT 1)`;

/** Lists monitors with their states in the order of a column, after the place of another monitor. */
export const listInOrder = declareOrders(
  monitors.id,
  { name: foldedName, response: lastCheck("last.latency_ms"), checked: lastCheck("last.at") },
  ({ value, isAfter, by, compare }) =>
    declareParts(
      monitors,
      selectMany((orm, $: Filters & Place & { state: MonitorState | null; limit: number }) =>
        orm
          .select({ row: monitors, state: monitorStates, id: monitors.id, value })
          .from(monitors)
          .crossJoin(monitorStates)
          .where(and(matches($), isIn($), isAfter($)))
          .orderBy(...by)
          .limit($.limit),
      ),
      compare,
    ),
);

/** Finds the name by which the list orders a monitor, which may be deleted. */
export const findOrderName = selectOne((orm, $: { id: string }) =>
  orm.select({ name: foldedName }).from(monitors).where(eq(monitors.id, $.id)),
);

/** Counts the monitors that match filters in each state, in rows for each part of the table. */
export const countMatches = declareParts(
  monitors,
  selectMany((orm, $: Filters) =>
    orm
      .select({ state: monitorStates.state, monitors: sql<number>`count(*)` })
      .from(monitors)
      .crossJoin(monitorStates)
      .where(matches($))
      .groupBy(monitorStates.state),
  ),
);

/** Lists the tags of monitors in alphabetical order. Tags that differ only in case are listed once. */
export const listMonitorTags = selectMany((orm, $: { limit: number }) =>
  orm
    .select({ tag: sql<string>`min(t.value)` })
    .from(monitors)
    .crossJoin(sql`json_each(${monitors.tags}) AS t`)
    .where(isNull(monitors.deletedAt))
    .groupBy(sql`lower(t.value)`)
    .orderBy(sql`lower(t.value)`)
    .limit($.limit),
);

/** Lists the names of monitors by group and name, those without a group first. */
export const listMonitorNames = selectMany((orm, $: { limit: number }) =>
  orm
    .select({
      id: monitors.id,
      ref: monitors.ref,
      type: monitors.type,
      name: monitors.name,
      group: monitors.group,
    })
    .from(monitors)
    .where(isNull(monitors.deletedAt))
    .orderBy(sql`lower(${monitors.group})`, asc(monitors.group), asc(foldedName), asc(monitors.id))
    .limit($.limit),
);

/** Lists the groups of monitors in alphabetical order. */
export const listMonitorGroups = selectMany((orm, $: { limit: number }) =>
  orm
    .selectDistinct({ group: sql<string>`${monitors.group}` })
    .from(monitors)
    .where(and(isNull(monitors.deletedAt), sql`${monitors.group} IS NOT NULL`))
    .orderBy(sql`lower(${monitors.group})`, asc(monitors.group))
    .limit($.limit),
);

const { monitorNum, startedAt, endedAt, state } = monitorSpans;
/** Returns the length of the part of a span between two times. */
const lengthWithin = (from: unknown, to: unknown) =>
  sql<number>`sum(max(0, min(coalesce(${endedAt}, ${to}), ${to}) - max(${startedAt}, ${from})))`;

/**
 * Sums the spans of monitors (`nums`: a JSON list) from `monthFrom` to `now` (unix ms), the newest
 * `spansMax` of each. One row has the spans of one state that start in the same period after `barsFrom`.
 * Spans that start earlier are in two rows: those that end before `barsFrom`, and the others.
 */
export const sumRecentSpans = selectMany(
  (
    orm,
    $: {
      nums: string;
      now: number;
      monthFrom: number;
      dayFrom: number;
      barsFrom: number;
      spansMax: number;
    },
  ) =>
    orm
      .select({
        monitorNum,
        state,
        spans: sql<number>`count(*)`,
        from: sql<number>`min(${startedAt})`,
        to: sql<number>`max(coalesce(${endedAt}, ${$.now}))`,
        dayMs: lengthWithin($.dayFrom, $.now),
        monthMs: lengthWithin($.monthFrom, $.now),
      })
      .from(sql`json_each(${$.nums}) AS j`)
      .crossJoin(monitorSpans)
      .where(
        sql`${monitorNum} = j.value AND ${startedAt} < ${$.now} AND ${startedAt} >= max(
          coalesce((SELECT max(s.started_at) FROM monitor_spans AS s
            WHERE s.monitor_num = j.value AND s.started_at <= ${$.monthFrom}), 0),
          coalesce((SELECT s.started_at FROM monitor_spans AS s
            WHERE s.monitor_num = j.value ORDER BY s.started_at DESC LIMIT 1 OFFSET ${$.spansMax}), 0))`,
      )
      .groupBy(
        monitorNum,
        state,
        sql`CASE WHEN ${startedAt} < ${$.barsFrom}
          THEN coalesce(${endedAt}, ${$.now}) > ${$.barsFrom}
          ELSE ${startedAt} / ${sql.raw(String(PERIOD_MS))} END`,
      ),
);

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

/**
 * Lists the monitors whose name, address, id or components contain the words (`wordsOf`), worst first, in several
 * turns.
 */
export const searchMonitors = declareParts(monitors, searchPart, compareWorst);

/* Incidents of a monitor, for its screen. */

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

/* Monitors that need attention, for the overview, and the monitors of incidents. */

/**
 * Lists the monitors that are down, unreachable or degraded, and those that are not paused and whose
 * certificate expires before `certificateUntil` (unix ms).
 */
export const listTroubledMonitors = selectMany((orm, $: { certificateUntil: number }) =>
  orm
    .select({
      id: monitors.id,
      name: monitors.name,
      state: monitorStates.state,
      since: monitorStates.since,
      certificateExpiresAt: monitorStates.certificateExpiresAt,
      isAcknowledged: sql<number>`${monitorStates.acknowledgement} IS NOT NULL`,
    })
    .from(monitors)
    .crossJoin(monitorStates)
    .where(
      and(
        eq(monitorStates.monitorNum, monitors.num),
        isNull(monitors.deletedAt),
        sql`(${monitorStates.state} IN ('down', 'unreachable', 'degraded')
          OR (${monitorStates.state} <> 'paused'
            AND ${monitorStates.certificateExpiresAt} < ${$.certificateUntil}))`,
      ),
    ),
);

/**
 * Lists the open incidents of monitors' outages, drafts included, each with the state of its monitor. `from` is the id
 * of the oldest open incident: older ones are not read.
 */
export const listOpenIncidentsOfMonitors = selectMany((orm, $: { from: string }) =>
  orm
    .select({
      monitorId: monitors.id,
      monitorName: monitors.name,
      monitorState: monitorStates.state,
      monitorSince: monitorStates.since,
      incidentId: incidents.id,
      incidentName: incidents.name,
      isDraft: incidents.draft,
      /** 1 while an outage in the incident lasts. */
      isFailing: sql<number>`max(${incidentOutages.endedAt} IS NULL AND ${components.deletedAt} IS NULL)`,
    })
    .from(incidents)
    .crossJoin(incidentOutages)
    .innerJoin(components, eq(components.id, incidentOutages.componentId))
    .innerJoin(pages, eq(pages.id, incidents.pageId))
    .innerJoin(monitors, eq(monitors.id, incidentOutages.monitorId))
    .innerJoin(monitorStates, eq(monitorStates.monitorNum, monitors.num))
    .where(
      and(
        // Written as in the partial index of open incidents.
        sql`${incidents.status} <> 'resolved'`,
        isNull(incidents.deletedAt),
        sql`+${incidents.id} >= ${$.from}`,
        eq(incidentOutages.incidentId, incidents.id),
        isNull(monitors.deletedAt),
        isNull(pages.deletedAt),
      ),
    )
    .groupBy(monitors.id, incidents.id)
    .orderBy(asc(monitors.id), asc(incidents.id)),
);
