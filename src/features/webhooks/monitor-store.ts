/* Monitors that endpoints name. Apart from the other statements, which the server loads before it is ready. */
import { and, eq, isNull, or } from "drizzle-orm";
import { selectByIds, selectOne } from "../../db/statements";
import { monitors } from "../../db/tables/monitors";

/** Finds the id of the monitor that an id or a ref names. */
export const findMonitorId = selectOne((orm, $: { reference: string }) =>
  orm
    .select({ id: monitors.id })
    .from(monitors)
    .where(
      // Both sides have the condition of the index of refs. Without it, every monitor is read.
      or(
        and(eq(monitors.id, $.reference), isNull(monitors.deletedAt)),
        and(eq(monitors.ref, $.reference), isNull(monitors.deletedAt)),
      ),
    ),
);

/** Lists the names and refs of monitors by their ids. */
export const listMonitorsById = selectByIds((orm, isOneOf) =>
  orm
    .select({ id: monitors.id, name: monitors.name, ref: monitors.ref })
    .from(monitors)
    .where(and(isOneOf(monitors.id), isNull(monitors.deletedAt))),
);
