/* Statements of the work of agents, which run after a change of a monitor, by the index of the locations of monitors. */
import { and, asc, eq, sql } from "drizzle-orm";
import { isAmong, selectMany } from "../../db/statements";
import { locationStates } from "../../db/tables/locations";
import { monitors } from "../../db/tables/monitors";
import { isNamed } from "../locations/store";

const isCheckedAt = (locationId: unknown) =>
  and(eq(locationStates.locationId, locationId as string), isNamed, eq(monitors.paused, false));

/** Lists the running monitors of a location with their versions. */
export const listVersionsAt = selectMany((orm, $: { locationId: string }) =>
  orm
    .select({ num: monitors.num, version: monitors.version })
    .from(locationStates)
    .crossJoin(monitors)
    .where(isCheckedAt($.locationId))
    .orderBy(asc(locationStates.monitorNum)),
);

/** Lists the ids of the running monitors that are down from a location. */
export const listDownAt = selectMany((orm, $: { locationId: string }) =>
  orm
    .select({ id: monitors.id })
    .from(locationStates)
    .crossJoin(monitors)
    .where(and(isCheckedAt($.locationId), eq(locationStates.state, "down"))),
);

/** Lists what checks of monitors (`nums`: a JSON list) need, with their configs and locations as stored. */
export const listWorkMonitors = selectMany((orm, $: { nums: string }) =>
  orm
    .select({
      num: monitors.num,
      id: monitors.id,
      version: monitors.version,
      type: monitors.type,
      config: sql<string>`${monitors.config}`,
      intervalSeconds: monitors.intervalSeconds,
      timeoutMs: monitors.timeoutMs,
      retryIntervalSeconds: monitors.retryIntervalSeconds,
      failureThreshold: monitors.failureThreshold,
      successThreshold: monitors.successThreshold,
      degradedAfterMs: monitors.degradedAfterMs,
      inverted: monitors.inverted,
      locations: sql<string>`${monitors.locations}`,
    })
    .from(monitors)
    .where(isAmong(monitors.num, $.nums)),
);
export type WorkMonitorRow = ReturnType<typeof listWorkMonitors>[number];
