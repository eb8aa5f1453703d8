/*
 * Monitors that need attention, for the overview. Each statement reads one row per monitor, in the
 * order of the primary key.
 */
import { and, desc, eq, gt, isNull, sql } from "drizzle-orm";
import { selectMany, selectOne } from "../../db";
import { incidents } from "../../db/tables/incidents";
import { monitorIncidents, monitors, monitorSpans, monitorStates } from "../../db/tables/monitors";
import { pages } from "../../db/tables/pages";

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
 * Lists the open incidents that monitors opened, drafts included, each with the state of its
 * monitor. `from` is the id of the oldest open incident: older ones are not read.
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
    })
    .from(monitors)
    .crossJoin(monitorIncidents)
    .crossJoin(incidents)
    .innerJoin(pages, eq(pages.id, incidents.pageId))
    .innerJoin(monitorStates, eq(monitorStates.monitorNum, monitors.num))
    .where(
      and(
        isNull(monitors.deletedAt),
        eq(monitorIncidents.monitorId, monitors.id),
        sql`${monitorIncidents.incidentId} >= ${$.from}`,
        eq(incidents.id, monitorIncidents.incidentId),
        sql`${incidents.status} <> 'resolved'`,
        isNull(incidents.deletedAt),
        isNull(pages.deletedAt),
      ),
    ),
);

/** Lists the monitors that opened an incident, oldest first. */
export const listMonitorsOfIncident = selectMany((orm, $: { incidentId: string; limit: number }) =>
  orm
    .select({ id: monitors.id })
    .from(monitors)
    .crossJoin(monitorIncidents)
    .where(
      and(
        isNull(monitors.deletedAt),
        eq(monitorIncidents.monitorId, monitors.id),
        eq(monitorIncidents.incidentId, $.incidentId),
      ),
    )
    .orderBy(monitors.id)
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
