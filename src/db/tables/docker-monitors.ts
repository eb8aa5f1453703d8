import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Containers whose labels declare monitors. */
export const dockerMonitors = sqliteTable("docker_monitors", {
  monitorId: text("monitor_id").primaryKey(),
  /** Name of the Docker host. */
  host: text().notNull(),
  /** Name of the container. Several may declare the same monitor. */
  container: text().notNull(),
  /** Time at which no container declared the monitor any more; null while one does. */
  removedAt: integer("removed_at"),
  /** True if that paused the monitor, which is resumed once a container declares it again. */
  isPausedByRemoval: integer("is_paused_by_removal", { mode: "boolean" }).notNull().default(false),
});
