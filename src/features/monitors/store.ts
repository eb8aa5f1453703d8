/*
 * Monitors, their components and evaluations. Hot: `saveHeartbeat` at each call of a
 * job, and `saveEvaluation` when a check changes the evaluation; both find their row by its key.
 */
import { and, asc, eq, isNull, sql } from "drizzle-orm";
import { insertInto, mutate, selectMany, selectOne, updateById } from "../../db/statements";
import { components } from "../../db/tables/components";
import {
  monitorComponents,
  monitors,
  monitorStates,
  monitorTokens,
} from "../../db/tables/monitors";
import { pages } from "../../db/tables/pages";
import type { TokenKind } from "../../base/status";
import type { Evaluation } from "./rules";

export type MonitorRow = typeof monitors.$inferSelect;
export type StateRow = typeof monitorStates.$inferSelect;

type Nothing = Record<string, never>;

export const insertMonitor = insertInto(monitors);
export const updateMonitorRow = updateById(monitors);
export const insertMonitorComponent = insertInto(monitorComponents);
export const insertMonitorState = insertInto(monitorStates);
export const insertMonitorToken = insertInto(monitorTokens);

/** Finds the `num` of the next monitor. Those of deleted monitors are not used again. */
export const findNextNum = selectOne((orm, _$: Nothing) =>
  orm.select({ num: sql<number>`coalesce(max(${monitors.num}), 0) + 1` }).from(monitors),
);

export const findMonitor = selectOne((orm, $: { id: string }) =>
  orm
    .select()
    .from(monitors)
    .where(and(eq(monitors.id, $.id), isNull(monitors.deletedAt))),
);

export const findMonitorByRef = selectOne((orm, $: { ref: string }) =>
  orm
    .select()
    .from(monitors)
    .where(and(eq(monitors.ref, $.ref), isNull(monitors.deletedAt))),
);

/** Lists the hashes of tokens of a kind, with their monitors. */
export const listMonitorTokens = selectMany((orm, $: { kind: TokenKind }) =>
  orm
    .select({ hash: monitorTokens.hash, monitorId: monitorTokens.monitorId })
    .from(monitorTokens)
    .where(eq(monitorTokens.kind, $.kind)),
);

export const findMonitorToken = selectOne((orm, $: { kind: TokenKind; hash: Buffer }) =>
  orm
    .select({ monitorId: monitorTokens.monitorId })
    .from(monitorTokens)
    .where(and(eq(monitorTokens.kind, $.kind), eq(monitorTokens.hash, $.hash))),
);

/** Deletes the tokens of a monitor: those of one kind, or all if that is null. */
export const deleteMonitorTokens = mutate((orm, $: { monitorId: string; kind: TokenKind | null }) =>
  orm
    .delete(monitorTokens)
    .where(
      and(
        eq(monitorTokens.monitorId, $.monitorId),
        sql`(${$.kind} IS NULL OR ${monitorTokens.kind} = ${$.kind})`,
      ),
    ),
);

/** Lists all monitors with their states, oldest first. */
export const listAllMonitors = selectMany((orm, _$: Nothing) =>
  orm
    .select({ monitor: monitors, state: monitorStates })
    .from(monitors)
    .innerJoin(monitorStates, eq(monitorStates.monitorNum, monitors.num))
    .where(isNull(monitors.deletedAt))
    .orderBy(asc(monitors.id)),
);

export const deleteMonitorComponents = mutate((orm, $: { monitorId: string }) =>
  orm.delete(monitorComponents).where(eq(monitorComponents.monitorId, $.monitorId)),
);

/** Removes the components of a page, including deleted ones, from all monitors. */
export const deleteMonitorComponentsOfPage = mutate((orm, $: { pageId: string }) =>
  orm
    .delete(monitorComponents)
    .where(
      sql`${monitorComponents.componentId} IN (SELECT id FROM components WHERE page_id = ${$.pageId})`,
    ),
);

/** Lists the components of monitors (`monitorIds`: a JSON list), in the order of their pages. */
export const listComponentsOfMonitors = selectMany((orm, $: { monitorIds: string }) =>
  orm
    .select({
      monitorId: monitorComponents.monitorId,
      id: components.id,
      name: components.name,
      status: components.status,
      pageId: components.pageId,
      pageSlug: pages.slug,
    })
    .from(monitorComponents)
    .innerJoin(components, eq(components.id, monitorComponents.componentId))
    .innerJoin(pages, eq(pages.id, components.pageId))
    .where(
      and(
        sql`${monitorComponents.monitorId} IN (SELECT value FROM json_each(${$.monitorIds}))`,
        isNull(components.deletedAt),
        isNull(pages.deletedAt),
      ),
    )
    .orderBy(asc(components.pageId), asc(components.position), asc(components.id)),
);

/** Lists pairs of monitor and component of a page. */
export const listMonitorsOfPage = selectMany((orm, $: { pageId: string }) =>
  orm
    .select({
      componentId: components.id,
      id: monitors.id,
      num: monitors.num,
      name: monitors.name,
      type: monitors.type,
    })
    .from(components)
    .innerJoin(monitorComponents, eq(monitorComponents.componentId, components.id))
    .innerJoin(monitors, eq(monitors.id, monitorComponents.monitorId))
    .where(
      and(
        eq(components.pageId, $.pageId),
        isNull(components.deletedAt),
        isNull(monitors.deletedAt),
      ),
    )
    .orderBy(asc(components.position), asc(components.id), asc(monitors.id)),
);

/** Counts the monitors in each state. */
export const countMonitorsByState = selectMany((orm, _$: Nothing) =>
  orm
    .select({ state: monitorStates.state, monitors: sql<number>`count(*)` })
    .from(monitors)
    .innerJoin(monitorStates, eq(monitorStates.monitorNum, monitors.num))
    .where(isNull(monitors.deletedAt))
    .groupBy(monitorStates.state),
);

export const findMonitorState = selectOne((orm, $: { monitorNum: number }) =>
  orm.select().from(monitorStates).where(eq(monitorStates.monitorNum, $.monitorNum)),
);

/** Lists the states of monitors (`nums`: a JSON list). */
export const listMonitorStates = selectMany((orm, $: { nums: string }) =>
  orm
    .select()
    .from(monitorStates)
    .where(sql`${monitorStates.monitorNum} IN (SELECT value FROM json_each(${$.nums}))`),
);

/** Raises the versions of monitors (`nums`: a JSON list) at a time (unix ms). */
export const touchMonitorRows = mutate((orm, $: { nums: string; at: number }) =>
  orm
    .update(monitors)
    .set({ version: sql`${monitors.version} + 1`, updatedAt: $.at })
    .where(sql`${monitors.num} IN (SELECT value FROM json_each(${$.nums}))`),
);

/** Pauses monitors (`nums`: a JSON list). */
export const pauseMonitorRows = mutate((orm, $: { nums: string }) =>
  orm
    .update(monitors)
    .set({ paused: true })
    .where(sql`${monitors.num} IN (SELECT value FROM json_each(${$.nums}))`),
);

export const saveEvaluation = mutate((orm, $: Evaluation & { monitorNum: number }) =>
  orm
    .update(monitorStates)
    .set({
      state: $.state,
      since: $.since,
      failures: $.failures,
      failingSince: $.failingSince,
      successes: $.successes,
      succeedingSince: $.succeedingSince,
      slow: $.slow,
      slowSince: $.slowSince,
      unreachableVia: $.unreachableVia,
    })
    .where(eq(monitorStates.monitorNum, $.monitorNum)),
);

/** Saves the time of a job's call. */
export const saveHeartbeat = mutate((orm, $: { monitorNum: number; at: number }) =>
  orm
    .update(monitorStates)
    .set({ heartbeatAt: $.at })
    .where(eq(monitorStates.monitorNum, $.monitorNum)),
);

/** Saves the expiry of the certificate seen last; null if it is no longer known. */
export const saveCertificate = mutate((orm, $: { monitorNum: number; expiresAt: number | null }) =>
  orm
    .update(monitorStates)
    .set({ certificateExpiresAt: $.expiresAt })
    .where(eq(monitorStates.monitorNum, $.monitorNum)),
);
