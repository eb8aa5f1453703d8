/*
 * Inputs of the engine: monitors and their evaluations. Runs often: `listEvaluationInputs`, once per batch
 * of results, by keys. `listVersions` runs after a change of a monitor, `listMonitorsInMaintenance`
 * after a change of a page, all others only at transitions.
 */
import { and, asc, eq, inArray, isNull, sql } from "drizzle-orm";
import { selectMany } from "../../db/statements";
import { incidentOutages, monitors, monitorStates } from "../../db/tables/monitors";

type Nothing = Record<string, never>;

/** Lists all monitors with their versions. */
export const listVersions = selectMany((orm, _$: Nothing) =>
  orm
    .select({ num: monitors.num, version: monitors.version })
    .from(monitors)
    .where(isNull(monitors.deletedAt)),
);

/** Columns of an evaluation. */
const EVALUATION = {
  state: monitorStates.state,
  since: monitorStates.since,
  failures: monitorStates.failures,
  failingSince: monitorStates.failingSince,
  successes: monitorStates.successes,
  succeedingSince: monitorStates.succeedingSince,
  slow: monitorStates.slow,
  slowSince: monitorStates.slowSince,
  unreachableVia: monitorStates.unreachableVia,
};

const WATCHED = {
  id: monitors.id,
  num: monitors.num,
  version: monitors.version,
  type: monitors.type,
  config: monitors.config,
  paused: monitors.paused,
  intervalSeconds: monitors.intervalSeconds,
  timeoutMs: monitors.timeoutMs,
  retryIntervalSeconds: monitors.retryIntervalSeconds,
  failureThreshold: monitors.failureThreshold,
  successThreshold: monitors.successThreshold,
  degradedAfterMs: monitors.degradedAfterMs,
  inverted: monitors.inverted,
  locations: monitors.locations,
  downWhen: monitors.downWhen,
  ...EVALUATION,
  heartbeatAt: monitorStates.heartbeatAt,
  // A JSON list of ids, in their order.
  parents: sql<string>`(SELECT json_group_array(d.parent_id ORDER BY d.position)
    FROM monitor_dependencies AS d WHERE d.monitor_id = ${monitors.id})`,
  // A JSON list of the open runs of a job, oldest first.
  runs: sql<string>`CASE WHEN ${monitors.type} = 'push' THEN (
    SELECT json_group_array(json_object('rid', r.rid, 'startedAt', r.started_at) ORDER BY r.started_at)
    FROM heartbeat_runs AS r WHERE r.monitor_num = ${monitors.num}) ELSE '[]' END`,
};

// Joins the monitors of a JSON list of numbers with their states; deleted ones are left out.
const isListed = and(
  sql`${monitors.num} = j.value`,
  eq(monitorStates.monitorNum, monitors.num),
  isNull(monitors.deletedAt),
);

/** Lists monitors (`nums`: a JSON list) with their evaluations. */
export const listScheduledMonitors = selectMany((orm, $: { nums: string }) =>
  orm
    .select(WATCHED)
    .from(sql`json_each(${$.nums}) AS j`)
    .crossJoin(monitors)
    .crossJoin(monitorStates)
    .where(isListed),
);
export type ScheduledMonitorRow = ReturnType<typeof listScheduledMonitors>[number];

/**
 * True for a component (`w.component_id`) that a maintenance keeps under maintenance. A cause of a deleted
 * component, or of one whose page is deleted, does not count.
 */
const isUnderMaintenance = sql`EXISTS (
  SELECT 1 FROM component_causes AS c
  CROSS JOIN components AS k ON k.id = c.component_id AND k.deleted_at IS NULL
  CROSS JOIN pages AS p ON p.id = k.page_id AND p.deleted_at IS NULL
  WHERE c.component_id = w.component_id AND c.ended_at IS NULL AND c.source = 'maintenance')`;

/**
 * Lists what the evaluation of results needs of monitors (`nums`: a JSON list). Deleted monitors
 * are left out.
 */
export const listEvaluationInputs = selectMany((orm, $: { nums: string }) =>
  orm
    .select({
      num: monitors.num,
      id: monitors.id,
      paused: monitors.paused,
      failureThreshold: monitors.failureThreshold,
      successThreshold: monitors.successThreshold,
      degradedAfterMs: monitors.degradedAfterMs,
      ...EVALUATION,
      certificateExpiresAt: monitorStates.certificateExpiresAt,
      // Time of the newest result.
      lastAt: sql<number | null>`(
        SELECT max(c.at) FROM monitor_checks AS c WHERE c.monitor_num = ${monitors.num})`,
      isInMaintenance: sql<number>`EXISTS (
        SELECT 1 FROM monitor_components AS w
        WHERE w.monitor_id = ${monitors.id} AND ${isUnderMaintenance})`,
    })
    .from(sql`json_each(${$.nums}) AS j`)
    .crossJoin(monitors)
    .crossJoin(monitorStates)
    .where(isListed),
);
export type EvaluationInput = ReturnType<typeof listEvaluationInputs>[number];

/** Lists the monitors with a component under maintenance, starting from the running maintenance. */
export const listMonitorsInMaintenance = selectMany((orm, _$: Nothing) =>
  orm
    .selectDistinct({ num: monitors.num })
    .from(sql`maintenances AS t`)
    .crossJoin(sql`maintenance_components AS tc`)
    .crossJoin(sql`monitor_components AS w`)
    .crossJoin(monitors)
    .where(
      and(
        sql`t.status IN ('scheduled', 'in_progress', 'verifying') AND t.deleted_at IS NULL
          AND t.status <> 'scheduled' AND tc.maintenance_id = t.id
          AND w.component_id = tc.component_id AND ${monitors.id} = w.monitor_id
          AND ${isUnderMaintenance}`,
        isNull(monitors.deletedAt),
      ),
    ),
);

/**
 * Lists running monitors that open incidents, are down and have a component without an open outage in an incident:
 * those whose outage was recorded without its incidents.
 */
export const listUnlinkedMonitors = selectMany((orm, _$: Nothing) =>
  orm
    .select({ id: monitors.id })
    .from(monitorStates)
    .crossJoin(monitors)
    .where(
      and(
        // Written as in the partial index of monitors that are down.
        sql`${monitorStates.state} = 'down'`,
        eq(monitors.num, monitorStates.monitorNum),
        eq(monitors.paused, false),
        isNull(monitors.deletedAt),
        sql`${monitors.openIncident} <> 'never'`,
        sql`EXISTS (
          SELECT 1 FROM monitor_components AS w
          CROSS JOIN components AS k ON k.id = w.component_id AND k.deleted_at IS NULL
          CROSS JOIN pages AS p ON p.id = k.page_id AND p.deleted_at IS NULL
          WHERE w.monitor_id = ${monitors.id} AND NOT EXISTS (
            SELECT 1 FROM incident_outages AS o
            WHERE o.monitor_id = w.monitor_id AND o.component_id = w.component_id
              AND o.ended_at IS NULL))`,
      ),
    )
    .orderBy(asc(monitors.num)),
);

/** Lists the monitors that are up or degraded and have an open outage in an incident. */
export const listRecoveredMonitors = selectMany((orm, _$: Nothing) =>
  orm
    .selectDistinct({ id: monitors.id, since: monitorStates.since })
    .from(incidentOutages)
    .innerJoin(monitors, eq(monitors.id, incidentOutages.monitorId))
    .innerJoin(monitorStates, eq(monitorStates.monitorNum, monitors.num))
    .where(and(isNull(incidentOutages.endedAt), inArray(monitorStates.state, ["up", "degraded"])))
    .orderBy(asc(monitors.num)),
);
