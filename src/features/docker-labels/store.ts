import { asc, eq, isNull, sql } from "drizzle-orm";
import { findBy, setBy } from "../../db/rows";
import { mutate, selectMany } from "../../db/statements";
import { dockerMonitors } from "../../db/tables/docker-monitors";
import { monitors } from "../../db/tables/monitors";

/** Container whose labels declare a monitor, or declared it before it was removed. */
export type DockerMonitorRow = typeof dockerMonitors.$inferSelect;

export const findDockerMonitor = findBy(dockerMonitors, ["monitorId"]);

/** Notes the container that declares a monitor now. */
export const saveDockerMonitor = mutate(
  (orm, $: { monitorId: string; host: string; container: string }) =>
    orm
      .insert(dockerMonitors)
      .values({
        monitorId: $.monitorId,
        host: $.host,
        container: $.container,
        removedAt: null,
        isPausedByRemoval: false,
      })
      .onConflictDoUpdate({
        target: dockerMonitors.monitorId,
        set: {
          host: sql`excluded.host`,
          container: sql`excluded.container`,
          removedAt: null,
          isPausedByRemoval: false,
        },
      }),
);

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
