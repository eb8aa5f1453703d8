/*
 * Locations, contact and tokens of their agents, and the monitors that name them. None is hot: the work of agents is
 * read after a change of a monitor, by the index of the locations of monitors.
 */
import { and, asc, eq, isNull, ne, sql } from "drizzle-orm";
import { LOCAL } from "../../base/status";
import { deleteBy, findBy, listBy, setBy } from "../../db/rows";
import {
  insertInto,
  isAmong,
  mutate,
  selectByIds,
  selectMany,
  updateById,
} from "../../db/statements";
import { locationStates, locations, locationTokens } from "../../db/tables/locations";
import { monitors } from "../../db/tables/monitors";

export type LocationRow = typeof locations.$inferSelect;

type Nothing = Record<string, never>;

export const insertLocation = insertInto(locations);
export const updateLocationRow = updateById(locations);

export const findLocation = findBy(locations, ["id"], { where: isNull(locations.deletedAt) });
export const findLocationByRef = findBy(locations, ["ref"], { where: isNull(locations.deletedAt) });

/** Lists the locations, oldest first. */
export const listLocations = listBy(locations, [], {
  where: isNull(locations.deletedAt),
  order: [asc(locations.id)],
});

/** Lists the ids, refs and names of locations, also of deleted ones. */
export const listLocationNames = selectByIds((orm, isOneOf) =>
  orm
    .select({ id: locations.id, ref: locations.ref, name: locations.name })
    .from(locations)
    .where(isOneOf(locations.id)),
);

/** Saves the last request of an agent (unix ms), after which its location is not offline. */
export const saveContact = setBy(locations, ["id"], ["contactAt", "agentVersion", "offlineSince"]);

/** Stores the version of an agent with which this server does not work. It is no contact. */
export const setAgentVersion = mutate((orm, $: { id: string; agentVersion: string }) =>
  orm
    .update(locations)
    .set({ agentVersion: $.agentVersion })
    .where(
      and(
        eq(locations.id, $.id),
        sql`(${locations.agentVersion} IS NULL OR ${ne(locations.agentVersion, $.agentVersion)})`,
      ),
    ),
);

/** Saves the start of a silence (unix ms) about which people get a message. */
export const saveOffline = setBy(locations, ["id"], ["offlineSince"]);

/** Saves the process of an agent and the number of its last result that was taken. */
export const saveResultsTaken = setBy(locations, ["id"], ["process", "resultsTaken"]);

export const insertLocationToken = insertInto(locationTokens);

/** Lists the tokens of a location, oldest first, also those that have ended. */
export const listTokensOfLocation = listBy(locationTokens, ["locationId"], {
  order: [asc(locationTokens.createdAt), asc(locationTokens.hash)],
});

/** Lists the tokens of all locations. */
export const listLocationTokens = listBy(locationTokens, []);

export const findLocationToken = findBy(locationTokens, ["hash"]);

export const deleteLocationToken = deleteBy(locationTokens, ["hash"]);
export const deleteLocationTokens = deleteBy(locationTokens, ["locationId"]);

/** Deletes the tokens of a location that have ended at `now` (unix ms). */
export const deleteEndedTokens = mutate((orm, $: { locationId: string; now: number }) =>
  orm
    .delete(locationTokens)
    .where(
      and(eq(locationTokens.locationId, $.locationId), sql`${locationTokens.endsAt} <= ${$.now}`),
    ),
);

/** Lets the tokens of a location end at a time (unix ms), unless they end before. */
export const endTokensAt = mutate((orm, $: { locationId: string; endsAt: number }) =>
  orm
    .update(locationTokens)
    .set({ endsAt: $.endsAt })
    .where(
      and(
        eq(locationTokens.locationId, $.locationId),
        sql`(${locationTokens.endsAt} IS NULL OR ${locationTokens.endsAt} > ${$.endsAt})`,
      ),
    ),
);

/**
 * Joins evaluations at locations with their monitors. Rows of a location stay when a monitor leaves it; only monitors
 * that name it count. Those that only the server checks have their evaluation elsewhere.
 */
const isNamed = and(
  eq(monitors.num, locationStates.monitorNum),
  isNull(monitors.deletedAt),
  ne(monitors.locations, [LOCAL]),
  sql`instr(${monitors.locations}, '"' || ${locationStates.locationId} || '"') > 0`,
);

/** Lists monitors that name a location, by name. */
export const listMonitorsAt = selectMany((orm, $: { locationId: string; limit: number }) =>
  orm
    .select({
      id: monitors.id,
      num: monitors.num,
      ref: monitors.ref,
      name: monitors.name,
      state: locationStates.state,
      since: locationStates.since,
    })
    .from(locationStates)
    .crossJoin(monitors)
    .where(and(eq(locationStates.locationId, $.locationId), isNamed))
    .orderBy(sql`lower(${monitors.name})`, asc(monitors.id))
    .limit($.limit),
);

/** Counts the monitors that name each location, by their state there. */
export const countMonitorsByLocation = selectMany((orm, _$: Nothing) =>
  orm
    .select({
      locationId: locationStates.locationId,
      state: locationStates.state,
      monitors: sql<number>`count(*)`,
    })
    .from(locationStates)
    .crossJoin(monitors)
    .where(isNamed)
    .groupBy(locationStates.locationId, locationStates.state),
);
export type LocationCount = ReturnType<typeof countMonitorsByLocation>[number];

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

/** Lists monitors (`nums`: a JSON list) as agents get them, with their configs and locations as stored. */
export const listWorkMonitors = selectMany((orm, $: { nums: string }) =>
  orm
    .select({
      id: monitors.id,
      version: monitors.version,
      type: monitors.type,
      interval_seconds: sql<number>`coalesce(${monitors.intervalSeconds}, 0)`,
      timeout_ms: monitors.timeoutMs,
      retry_interval_seconds: monitors.retryIntervalSeconds,
      failure_threshold: monitors.failureThreshold,
      success_threshold: monitors.successThreshold,
      degraded_after_ms: monitors.degradedAfterMs,
      inverted: monitors.inverted,
      config: sql<string>`${monitors.config}`,
      locations: sql<string>`${monitors.locations}`,
    })
    .from(monitors)
    .where(isAmong(monitors.num, $.nums)),
);
