/*
 * Results of checks, the timelines of states, and times without data. Hot: `insertCheck` at every
 * check and `saveLiveness` every few seconds; both write one row by its key. `findOpenSpan` and the
 * writes of spans run only at transitions. Reads take a range of the primary key, so their time
 * does not depend on other monitors.
 */
import { and, asc, desc, eq, gt, gte, isNull, lt, ne, sql } from "drizzle-orm";
import type { MonitorState } from "../../base/status";
import { deleteBy, setBy } from "../../db/rows";
import { insertInto, insertMissingInto, mutate, selectMany, selectOne } from "../../db/statements";
import { components } from "../../db/tables/components";
import {
  componentNoData,
  liveness,
  monitorChecks,
  monitorComponents,
  monitorRollups,
  monitors,
  monitorSpans,
  monitorStates,
} from "../../db/tables/monitors";

export type CheckRow = typeof monitorChecks.$inferSelect;
export type SpanRow = typeof monitorSpans.$inferSelect;
export type NoDataRow = typeof componentNoData.$inferSelect;

const { monitorNum, startedAt } = monitorSpans;

/**
 * Stores a result. Returns 0 if the monitor has a result of the same millisecond, which is kept:
 * after two checks at once, or when the clock was set back.
 */
export const insertCheck = mutate((orm, $: CheckRow) =>
  orm
    .insert(monitorChecks)
    .values({
      monitorNum: $.monitorNum,
      at: $.at,
      outcome: $.outcome,
      latencyMs: $.latencyMs,
      message: $.message,
    })
    .onConflictDoNothing(),
);

/** Lists results older than `before` (unix ms), newest first. */
export const listChecksBefore = selectMany(
  (orm, $: { monitorNum: number; before: number; limit: number }) =>
    orm
      .select()
      .from(monitorChecks)
      .where(and(eq(monitorChecks.monitorNum, $.monitorNum), lt(monitorChecks.at, $.before)))
      .orderBy(desc(monitorChecks.at))
      .limit($.limit),
);

/** Lists the last stored result of monitors (`nums`: a JSON list). */
export const listLastChecks = selectMany((orm, $: { nums: string }) =>
  orm
    .select({ row: monitorChecks })
    .from(sql`json_each(${$.nums}) AS j`)
    .crossJoin(monitorChecks)
    .where(
      sql`${monitorChecks.monitorNum} = j.value AND ${monitorChecks.at} = (
        SELECT max(c.at) FROM monitor_checks AS c WHERE c.monitor_num = j.value)`,
    ),
);

/** Lists the `each` newest results until a time of monitors (`nums`: a JSON list), oldest first per monitor. */
export const listNewestChecks = selectMany(
  (orm, $: { nums: string; each: number; until: number }) =>
    orm
      .select({ row: monitorChecks })
      .from(sql`json_each(${$.nums}) AS j`)
      .crossJoin(monitorChecks)
      .where(
        sql`${monitorChecks.monitorNum} = j.value AND ${monitorChecks.at} >= coalesce((
        SELECT c.at FROM monitor_checks AS c WHERE c.monitor_num = j.value AND c.at <= ${$.until}
        ORDER BY c.at DESC LIMIT 1 OFFSET ${$.each} - 1), 0) AND ${monitorChecks.at} <= ${$.until}`,
      ),
);

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

/** Sets the end of a span; null opens it again. */
export const endSpan = setBy(monitorSpans, ["monitorNum", "startedAt"], ["endedAt"]);

/** Finds the span of a monitor before the one that started at a time. */
export const findSpanBefore = selectOne((orm, $: { monitorNum: number; startedAt: number }) =>
  orm
    .select()
    .from(monitorSpans)
    .where(and(eq(monitorNum, $.monitorNum), lt(startedAt, $.startedAt)))
    .orderBy(desc(startedAt))
    .limit(1),
);

export const deleteSpan = deleteBy(monitorSpans, ["monitorNum", "startedAt"]);

/** Replaces state and message of a span. */
export const rewriteSpan = setBy(monitorSpans, ["monitorNum", "startedAt"], ["state", "message"]);

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
 * Stores a time without data of a component, from `startedAt` (unix ms) to `endedAt`, or open if
 * that is null. A row with the same start gets the new end.
 */
export const saveNoData = mutate((orm, $: NoDataRow) =>
  orm
    .insert(componentNoData)
    .values({ componentId: $.componentId, startedAt: $.startedAt, endedAt: $.endedAt })
    .onConflictDoUpdate({
      target: [componentNoData.componentId, componentNoData.startedAt],
      set: { endedAt: sql`excluded.ended_at` },
    }),
);

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

/*
 * Results by hour, and rollups. None is hot: rollups are made once an hour per monitor, latencies
 * are read on demand. All statements take ranges of primary keys; monitors that are due are found
 * by `monitor_states_by_rolled_until`.
 */

export type RollupRow = typeof monitorRollups.$inferSelect;

const inSpan = ($: { monitorNum: number; from: number; to: number }) =>
  and(
    eq(monitorChecks.monitorNum, $.monitorNum),
    gte(monitorChecks.at, $.from),
    lt(monitorChecks.at, $.to),
  );

/**
 * Lists the monitors that are rolled up to a time before `due` (unix ms), the furthest behind
 * first.
 */
export const listBehind = selectMany((orm, $: { due: number; limit: number }) =>
  orm
    .select({ monitorNum: monitorStates.monitorNum, rolledUntil: monitorStates.rolledUntil })
    .from(monitorStates)
    .where(lt(monitorStates.rolledUntil, $.due))
    .orderBy(asc(monitorStates.rolledUntil))
    .limit($.limit),
);

/**
 * Sets the progress of monitors that are rolled up beyond `at` (unix ms) back to it, after the
 * clock was set back.
 */
export const returnTo = mutate((orm, $: { at: number }) =>
  orm.update(monitorStates).set({ rolledUntil: $.at }).where(gt(monitorStates.rolledUntil, $.at)),
);

export const saveRolledUntil = setBy(monitorStates, ["monitorNum"], ["rolledUntil"]);

/** Finds the time of the first result within a span; null without one. */
export const findFirstCheck = selectOne(
  (orm, $: { monitorNum: number; from: number; to: number }) =>
    orm
      .select({ at: sql<number | null>`min(${monitorChecks.at})` })
      .from(monitorChecks)
      .where(inSpan($)),
);

/** Lists the results of a span with a known outcome, oldest first. */
export const listResults = selectMany((orm, $: { monitorNum: number; from: number; to: number }) =>
  orm
    .select({
      at: monitorChecks.at,
      outcome: monitorChecks.outcome,
      latencyMs: monitorChecks.latencyMs,
    })
    .from(monitorChecks)
    .where(and(inSpan($), ne(monitorChecks.outcome, "unknown")))
    .orderBy(asc(monitorChecks.at)),
);

/** Stores a rollup, replacing an earlier one of the same time. */
export const saveRollup = mutate((orm, $: RollupRow) =>
  orm
    .insert(monitorRollups)
    .values({
      monitorNum: $.monitorNum,
      size: $.size,
      at: $.at,
      checks: $.checks,
      failures: $.failures,
      answers: $.answers,
      latencySum: $.latencySum,
      latencyMin: $.latencyMin,
      latencyMax: $.latencyMax,
      sketch: $.sketch,
    })
    .onConflictDoUpdate({
      target: [monitorRollups.monitorNum, monitorRollups.size, monitorRollups.at],
      set: {
        checks: sql`excluded.checks`,
        failures: sql`excluded.failures`,
        answers: sql`excluded.answers`,
        latencySum: sql`excluded.latency_sum`,
        latencyMin: sql`excluded.latency_min`,
        latencyMax: sql`excluded.latency_max`,
        sketch: sql`excluded.sketch`,
      },
    }),
);

/**
 * Lists the rollups of one monitor and size, from `from` to before `to` (unix ms), oldest first.
 */
export const listRollups = selectMany(
  (orm, $: { monitorNum: number; size: number; from: number; to: number }) =>
    orm
      .select()
      .from(monitorRollups)
      .where(
        and(
          eq(monitorRollups.monitorNum, $.monitorNum),
          eq(monitorRollups.size, $.size),
          gte(monitorRollups.at, $.from),
          lt(monitorRollups.at, $.to),
        ),
      )
      .orderBy(asc(monitorRollups.at)),
);

/** Deletes results of a monitor older than `before` (unix ms), oldest first, at most `limit`. */
export const deleteChecksBefore = mutate(
  (orm, $: { monitorNum: number; before: number; limit: number }) =>
    orm.delete(monitorChecks).where(
      and(
        eq(monitorChecks.monitorNum, $.monitorNum),
        lt(monitorChecks.at, $.before),
        sql`${monitorChecks.at} < coalesce((SELECT c.at FROM monitor_checks AS c
            WHERE c.monitor_num = ${$.monitorNum} ORDER BY c.at LIMIT 1 OFFSET ${$.limit}), ${$.before})`,
      ),
    ),
);

/** Deletes rollups of one size older than `before` (unix ms), oldest first, at most `limit`. */
export const deleteRollupsBefore = mutate(
  (orm, $: { monitorNum: number; size: number; before: number; limit: number }) =>
    orm.delete(monitorRollups).where(
      and(
        eq(monitorRollups.monitorNum, $.monitorNum),
        eq(monitorRollups.size, $.size),
        lt(monitorRollups.at, $.before),
        sql`${monitorRollups.at} < coalesce((SELECT r.at FROM monitor_rollups AS r
            WHERE r.monitor_num = ${$.monitorNum} AND r.size = ${$.size}
            ORDER BY r.at LIMIT 1 OFFSET ${$.limit}), ${$.before})`,
      ),
    ),
);

/** Finds the earliest time up to which monitors (`nums`: a JSON list) are rolled up. */
export const findLeastRolledUntil = selectOne((orm, $: { nums: string }) =>
  orm
    .select({ at: sql<number | null>`min(${monitorStates.rolledUntil})` })
    .from(monitorStates)
    .where(sql`${monitorStates.monitorNum} IN (SELECT value FROM json_each(${$.nums}))`),
);

/** Lists the rollups of monitors (`nums`: a JSON list) in one size, from `from` to before `to`. */
export const listRollupsOfMonitors = selectMany(
  (orm, $: { nums: string; size: number; from: number; to: number }) =>
    orm
      .select({ row: monitorRollups })
      .from(sql`json_each(${$.nums}) AS j`)
      .crossJoin(monitorStates)
      .crossJoin(monitorRollups)
      .where(
        and(
          sql`${monitorStates.monitorNum} = j.value AND ${monitorRollups.monitorNum} = j.value`,
          eq(monitorRollups.size, $.size),
          gte(monitorRollups.at, $.from),
          lt(monitorRollups.at, $.to),
          // Later times are read from results. After the clock was set back, both may contain the
          // same checks.
          sql`${monitorRollups.at} <= ${monitorStates.rolledUntil} - ${$.size}`,
        ),
      ),
);

/** Lists the results of monitors (`nums`: a JSON list) in a span that are not rolled up yet. */
export const listUnrolledResults = selectMany(
  (orm, $: { nums: string; from: number; to: number }) =>
    orm
      .select({
        at: monitorChecks.at,
        outcome: monitorChecks.outcome,
        latencyMs: monitorChecks.latencyMs,
      })
      .from(sql`json_each(${$.nums}) AS j`)
      .crossJoin(monitorStates)
      .crossJoin(monitorChecks)
      .where(
        and(
          sql`${monitorStates.monitorNum} = j.value AND ${monitorChecks.monitorNum} = j.value`,
          sql`${monitorChecks.at} >= max(${monitorStates.rolledUntil}, ${$.from})`,
          lt(monitorChecks.at, $.to),
          ne(monitorChecks.outcome, "unknown"),
        ),
      ),
);

/*
 * Times before a monitor was created here, which an import writes. Rows that are there stay as they are. An import
 * writes millions of rows, so many are inserted by one statement.
 */

export const insertPastChecks = insertMissingInto(monitorChecks);
export const insertPastRollups = insertMissingInto(monitorRollups);
export const insertPastSpans = insertMissingInto(monitorSpans);
export const insertPastNoData = insertMissingInto(componentNoData);

/** Finds the first span of a monitor. */
export const findFirstSpan = selectOne((orm, $: { monitorNum: number }) =>
  orm
    .select({ startedAt: monitorSpans.startedAt, state: monitorSpans.state })
    .from(monitorSpans)
    .where(eq(monitorSpans.monitorNum, $.monitorNum))
    .orderBy(monitorSpans.startedAt)
    .limit(1),
);

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

export const deleteSpans = deleteBy(monitorSpans, ["monitorNum"]);

/** Lets the results of a monitor from a time on (unix ms) be rolled up again. */
export const rollUpAgainFrom = mutate((orm, $: { monitorNum: number; at: number }) =>
  orm
    .update(monitorStates)
    .set({ rolledUntil: $.at })
    .where(and(eq(monitorStates.monitorNum, $.monitorNum), gt(monitorStates.rolledUntil, $.at))),
);

/** Lists the monitors of a component. */
export const listMonitorsOfComponent = selectMany((orm, $: { componentId: string }) =>
  orm
    .select({ num: monitors.num, intervalSeconds: monitors.intervalSeconds })
    .from(monitorComponents)
    .innerJoin(monitors, eq(monitors.id, monitorComponents.monitorId))
    .where(and(eq(monitorComponents.componentId, $.componentId), isNull(monitors.deletedAt))),
);
