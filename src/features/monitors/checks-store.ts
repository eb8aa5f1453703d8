/*
 * Results of checks, the timelines of states, and times without data. Hot: `insertCheck` at every
 * check and `saveLiveness` every few seconds; both write one row by its key. `findOpenSpan` and the
 * writes of spans run only at transitions. Reads take a range of the primary key, so their time
 * does not depend on other monitors.
 */
import { and, desc, eq, isNull, lt, sql } from "drizzle-orm";
import { insertInto, mutate, selectMany, selectOne } from "../../db/statements";
import { components } from "../../db/tables/components";
import { componentNoData, liveness, monitorChecks, monitorSpans } from "../../db/tables/monitors";

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

export const endSpan = mutate(
  (orm, $: { monitorNum: number; startedAt: number; endedAt: number }) =>
    orm
      .update(monitorSpans)
      .set({ endedAt: $.endedAt })
      .where(and(eq(monitorNum, $.monitorNum), eq(startedAt, $.startedAt))),
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

export const reopenSpan = mutate((orm, $: { monitorNum: number; startedAt: number }) =>
  orm
    .update(monitorSpans)
    .set({ endedAt: null })
    .where(and(eq(monitorNum, $.monitorNum), eq(startedAt, $.startedAt))),
);

export const deleteSpan = mutate((orm, $: { monitorNum: number; startedAt: number }) =>
  orm.delete(monitorSpans).where(and(eq(monitorNum, $.monitorNum), eq(startedAt, $.startedAt))),
);

/** Replaces state and message of a span. */
export const rewriteSpan = mutate(
  (orm, $: Pick<SpanRow, "monitorNum" | "startedAt" | "state" | "message">) =>
    orm
      .update(monitorSpans)
      .set({ state: $.state, message: $.message })
      .where(and(eq(monitorNum, $.monitorNum), eq(startedAt, $.startedAt))),
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
