/* Monitors that need attention, for the overview, and the monitors of incidents. */
import { and, asc, desc, eq, gt, isNull, sql } from "drizzle-orm";
import { selectMany, selectOne } from "../../db/statements";
import { components } from "../../db/tables/components";
import { incidents } from "../../db/tables/incidents";
import { monitors, monitorSpans, monitorStates } from "../../db/tables/monitors";
import { incidentOutages } from "../../db/tables/outages";
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
