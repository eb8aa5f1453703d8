import { asc, eq, isNull } from "drizzle-orm";
import { replaceIn } from "../../db/replace";
import { findBy, setBy } from "../../db/rows";
import { selectMany } from "../../db/statements";
import { dockerMonitors } from "../../db/tables/docker-monitors";
import { monitors } from "../../db/tables/monitors";

/** Container whose labels declare a monitor, or declared it before it was removed. */
export type DockerMonitorRow = typeof dockerMonitors.$inferSelect;

export const findDockerMonitor = findBy(dockerMonitors, ["monitorId"]);

/** Notes the container that declares a monitor now. */
export const saveDockerMonitor = replaceIn(dockerMonitors, ["monitorId"]);

/** Notes that no container declares a monitor any more. */
export const setRemoved = setBy(dockerMonitors, ["monitorId"], ["removedAt", "isPausedByRemoval"]);

/** Lists the monitors that labels declare or declared, oldest first. */
export const listDockerMonitors = selectMany((orm, _$: Record<string, never>) =>
  orm
    .select({ source: dockerMonitors, ref: monitors.ref, paused: monitors.paused })
    .from(dockerMonitors)
    .innerJoin(monitors, eq(monitors.id, dockerMonitors.monitorId))
    .where(isNull(monitors.deletedAt))
    .orderBy(asc(monitors.id)),
);
