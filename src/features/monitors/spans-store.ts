/*
 * Timelines: the spans of the states of monitors, the times without data of components, and the time at which this server
 * was last awake. Runs often: `saveLiveness` every few seconds, which writes one row. Spans are written only at transitions.
 * Reads take a range of the primary key, so their time does not depend on other monitors.
 */
import { and, asc, desc, eq, gt, inArray, isNull, lt, type SQL, sql } from "drizzle-orm";
import type { MonitorState } from "../../base/status";
import { deleteBy, setBy } from "../../db/rows";
import { replaceIn } from "../../db/replace";
import { insertInto, insertMissingInto, mutate, selectMany, selectOne } from "../../db/statements";
import { components } from "../../db/tables/components";
import {
  componentNoData,
  liveness,
  monitors,
  monitorSpans,
  monitorStates,
} from "../../db/tables/monitors";

export type SpanRow = typeof monitorSpans.$inferSelect;

const { monitorNum, startedAt, endedAt } = monitorSpans;

export const insertSpan = insertInto(monitorSpans);

/** Finds the span of a monitor's current state. */
export const findOpenSpan = selectOne((orm, $: { monitorNum: number }) =>
  orm
    .select()
    .from(monitorSpans)
    .where(eq(monitorNum, $.monitorNum))
    .orderBy(desc(startedAt))
    .limit(1),
);

/** Finds the span of a monitor before the one that started at a time. */
export const findSpanBefore = selectOne((orm, $: { monitorNum: number; startedAt: number }) =>
  orm
    .select()
    .from(monitorSpans)
    .where(and(eq(monitorNum, $.monitorNum), lt(startedAt, $.startedAt)))
    .orderBy(desc(startedAt))
    .limit(1),
);

/** Finds the first span of a monitor. */
export const findFirstSpan = selectOne((orm, $: { monitorNum: number }) =>
  orm
    .select({ startedAt: monitorSpans.startedAt, state: monitorSpans.state })
    .from(monitorSpans)
    .where(eq(monitorSpans.monitorNum, $.monitorNum))
    .orderBy(monitorSpans.startedAt)
    .limit(1),
);

/** Finds the last span in which the state of a monitor was known. */
export const findLastKnown = selectOne((orm, $: { monitorNum: number }) =>
  orm
    .select({ state: monitorSpans.state })
    .from(monitorSpans)
    .where(
      and(
        eq(monitorSpans.monitorNum, $.monitorNum),
        inArray(monitorSpans.state, ["up", "degraded", "down"]),
      ),
    )
    .orderBy(desc(monitorSpans.startedAt))
    .limit(1),
);

/** Finds the start of the last known outage of a monitor: its first span since it was last up. */
export const findOutageStart = selectOne((orm, $: { monitorNum: number }) =>
  orm
    .select({ startedAt: monitorSpans.startedAt })
    .from(monitorSpans)
    .where(
      and(
        eq(monitorSpans.monitorNum, $.monitorNum),
        eq(monitorSpans.state, "down"),
        sql`${monitorSpans.startedAt} > coalesce((
          SELECT s.started_at FROM monitor_spans AS s
          WHERE s.monitor_num = ${$.monitorNum} AND s.state IN ('up', 'degraded')
          ORDER BY s.started_at DESC LIMIT 1), -1)`,
      ),
    )
    .orderBy(asc(monitorSpans.startedAt))
    .limit(1),
);

/**
 * Lists the spans of monitors (`nums`: a JSON list) that overlap `from` to `to` (unix ms, `to`
 * excluded), uncut, oldest first per monitor. Timelines have no gaps, so the first is the last one
 * that started by `from`.
 */
export const listSpans = selectMany((orm, $: { nums: string; from: number; to: number }) =>
  orm
    .select({ row: monitorSpans })
    .from(sql`json_each(${$.nums}) AS j`)
    .crossJoin(monitorSpans)
    .where(
      and(
        sql`${monitorNum} = j.value AND ${startedAt} < ${$.to} AND ${startedAt} >= coalesce((
          SELECT max(s.started_at) FROM monitor_spans AS s
          WHERE s.monitor_num = j.value AND s.started_at <= ${$.from}), 0)`,
      ),
    ),
);

/**
 * Sums the times of monitors (`nums`: a JSON list) from `from` to `to` (unix ms, `to` excluded) by the states
 * that uptime needs, for monitors with a timeline, as `timesByInterval` does with `listSpans`. Monitors are in
 * the order of their numbers, so that SQLite groups without sorting.
 */
export const sumTimes = selectMany((orm, $: { nums: string; from: number; to: number }) => {
  const length = sql`(CASE WHEN ${endedAt} < ${$.to} THEN ${endedAt} ELSE ${$.to} END)
    - (CASE WHEN ${startedAt} > ${$.from} THEN ${startedAt} ELSE ${$.from} END)`;
  const timeIn = (state: SQL) =>
    sql<number>`coalesce(sum(${length}) FILTER (WHERE ${monitorSpans.state} = ${state}), 0)`;
  return orm
    .select({
      num: monitors.num,
      up: timeIn(sql`'up'`),
      degraded: timeIn(sql`'degraded'`),
      down: timeIn(sql`'down'`),
      maintenance: timeIn(sql`'maintenance'`),
    })
    .from(monitors)
    .crossJoin(monitorSpans)
    .where(
      and(
        sql`${monitors.num} IN (SELECT value FROM json_each(${$.nums}))`,
        sql`${monitorNum} = ${monitors.num} AND ${startedAt} < ${$.to} AND ${startedAt} >= coalesce((
          SELECT max(s.started_at) FROM monitor_spans AS s
          WHERE s.monitor_num = ${monitors.num} AND s.started_at <= ${$.from}), 0)`,
        // Other spans have no time in it.
        sql`(${endedAt} IS NULL OR (${endedAt} > ${$.from} AND ${endedAt} > ${startedAt}))`,
      ),
    )
    .groupBy(monitors.num);
});

/**
 * Lists the newest spans of a monitor that overlap `from` to `to` (unix ms, `to` excluded), uncut,
 * newest first.
 */
export const listNewestSpans = selectMany(
  (orm, $: { monitorNum: number; from: number; to: number; limit: number }) =>
    orm
      .select()
      .from(monitorSpans)
      .where(
        and(
          eq(monitorNum, $.monitorNum),
          lt(startedAt, $.to),
          sql`${startedAt} >= coalesce((SELECT max(s.started_at) FROM monitor_spans AS s
            WHERE s.monitor_num = ${$.monitorNum} AND s.started_at <= ${$.from}), 0)`,
        ),
      )
      .orderBy(desc(startedAt))
      .limit($.limit),
);

/**
 * Finds the longest time without data that ended after `since` (unix ms) and has this message. All
 * active monitors share such a time, so that only the 20 oldest are read.
 */
export const findLongestGap = selectOne((orm, $: { since: number; message: string }) =>
  orm
    .select({
      startedAt: monitorSpans.startedAt,
      endedAt: sql<number>`coalesce(${monitorSpans.endedAt}, 0)`,
    })
    .from(
      sql`(SELECT m.num FROM monitors AS m JOIN monitor_states AS s ON s.monitor_num = m.num
        WHERE m.deleted_at IS NULL AND s.state <> 'paused' ORDER BY m.num LIMIT 20) AS oldest`,
    )
    .crossJoin(monitorSpans)
    .where(
      and(
        sql`${monitorSpans.monitorNum} = oldest.num`,
        // Spans have no gaps, so that at most one of them contains `since`.
        sql`${monitorSpans.startedAt} >= coalesce((SELECT max(b.started_at) FROM monitor_spans AS b
          WHERE b.monitor_num = oldest.num AND b.started_at <= ${$.since}), 0)`,
        gt(monitorSpans.endedAt, $.since),
        eq(monitorSpans.state, "no_data"),
        eq(monitorSpans.message, $.message),
      ),
    )
    .orderBy(desc(sql`${monitorSpans.endedAt} - ${monitorSpans.startedAt}`))
    .limit(1),
);

/** Sets the end of a span; null opens it again. */
export const endSpan = setBy(monitorSpans, ["monitorNum", "startedAt"], ["endedAt"]);

/** Replaces state and message of a span. */
export const rewriteSpan = setBy(monitorSpans, ["monitorNum", "startedAt"], ["state", "message"]);

/** Lets a span start earlier. Returns 0 if it is not there in that state. */
export const startSpanEarlier = mutate(
  (orm, $: { monitorNum: number; startedAt: number; state: MonitorState; earlier: number }) =>
    orm
      .update(monitorSpans)
      .set({ startedAt: $.earlier })
      .where(
        and(
          eq(monitorSpans.monitorNum, $.monitorNum),
          eq(monitorSpans.startedAt, $.startedAt),
          eq(monitorSpans.state, $.state),
        ),
      ),
);

export const deleteSpan = deleteBy(monitorSpans, ["monitorNum", "startedAt"]);

export const deleteSpans = deleteBy(monitorSpans, ["monitorNum"]);

/* Times without data of components. */

/**
 * Stores a time without data of a component, from `startedAt` (unix ms) to `endedAt`, or open if
 * that is null. A row with the same start gets the new end.
 */
export const saveNoData = replaceIn(componentNoData, ["componentId", "startedAt"]);

/** Ends the open time without data of a component, no earlier than it started. */
export const endNoData = mutate((orm, $: { componentId: string; endedAt: number }) =>
  orm
    .update(componentNoData)
    .set({ endedAt: sql`max(${componentNoData.startedAt}, ${$.endedAt})` })
    .where(and(eq(componentNoData.componentId, $.componentId), isNull(componentNoData.endedAt))),
);

/** Ends every open no-data interval of a page's components, deleted ones too, at `endedAt` (unix ms). */
export const endNoDataOfPage = mutate((orm, $: { pageId: string; endedAt: number }) =>
  orm
    .update(componentNoData)
    .set({ endedAt: sql`max(${componentNoData.startedAt}, ${$.endedAt})` })
    .where(
      and(
        sql`${componentNoData.componentId} IN (SELECT id FROM components WHERE page_id = ${$.pageId})`,
        isNull(componentNoData.endedAt),
      ),
    ),
);

/** Finds the open time without data of a component. */
export const findOpenNoData = selectOne((orm, $: { componentId: string }) =>
  orm
    .select({ startedAt: sql<number>`n.started_at` })
    .from(sql`component_no_data AS n`)
    .where(sql`n.component_id = ${$.componentId} AND n.ended_at IS NULL`)
    .orderBy(sql`n.started_at DESC`)
    .limit(1),
);

/**
 * Finds the start of the current time without data of a component (unix ms); null if it has data or
 * no monitor. It has no data while none of its running monitors has a known state.
 */
export const findUnknownSince = selectOne((orm, $: { componentId: string }) =>
  orm
    .select({
      since: sql<number | null>`CASE
        WHEN sum(${monitorStates.state} <> 'no_data') = 0 THEN max(${monitorStates.since}) END`,
    })
    .from(sql`monitor_components AS w`)
    .crossJoin(monitors)
    .crossJoin(monitorStates)
    .where(
      and(
        sql`w.component_id = ${$.componentId} AND ${monitors.id} = w.monitor_id`,
        eq(monitorStates.monitorNum, monitors.num),
        eq(monitors.paused, false),
        isNull(monitors.deletedAt),
      ),
    ),
);

/**
 * Lists the times without data of a page's components from `since` (unix ms) on; oldest first per
 * component.
 */
export const listNoDataOfPage = selectMany((orm, $: { pageId: string; since: number }) =>
  orm
    .select({ row: componentNoData })
    .from(components)
    .crossJoin(componentNoData)
    .where(
      and(
        eq(components.pageId, $.pageId),
        isNull(components.deletedAt),
        eq(componentNoData.componentId, components.id),
        sql`(${componentNoData.endedAt} IS NULL OR ${componentNoData.endedAt} > ${$.since})`,
      ),
    ),
);

/**
 * Finds the time at which this server was last awake, in unix ms; undefined before its first start.
 */
export const findLiveness = selectOne((orm, _$: Record<string, never>) =>
  orm.select({ at: liveness.at }).from(liveness),
);

export const saveLiveness = mutate((orm, $: { at: number }) =>
  orm
    .insert(liveness)
    .values({ id: 1, at: $.at })
    .onConflictDoUpdate({ target: liveness.id, set: { at: sql`excluded.at` } }),
);

/* Times before a monitor was created here, which an import writes. Rows that are there stay as they are. */

export const insertPastSpans = insertMissingInto(monitorSpans);
export const insertPastNoData = insertMissingInto(componentNoData);
