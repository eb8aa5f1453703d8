/*
 * Times before a monitor was created here, which an import writes. Rows that are there stay as they are. An import
 * writes millions of rows, so many are inserted by one statement.
 */
import { and, eq, gt, isNull } from "drizzle-orm";
import type { MonitorState } from "../../base/status";
import { insertMissingInto, mutate, selectMany, selectOne } from "../../db/statements";
import {
  componentNoData,
  monitorChecks,
  monitorComponents,
  monitorRollups,
  monitors,
  monitorSpans,
  monitorStates,
} from "../../db/tables/monitors";

export const insertPastChecks = insertMissingInto(monitorChecks);
export const insertPastRollups = insertMissingInto(monitorRollups);
export const insertPastSpans = insertMissingInto(monitorSpans);
export const insertPastNoData = insertMissingInto(componentNoData);

/** Finds the first span of a monitor. */
export const findFirstSpan = selectOne((orm, $: { monitorNum: number }) =>
  orm
    .select({ startedAt: monitorSpans.startedAt, state: monitorSpans.state })
    .from(monitorSpans)
    .where(eq(monitorSpans.monitorNum, $.monitorNum))
    .orderBy(monitorSpans.startedAt)
    .limit(1),
);

/** Lets a span start earlier. Returns 0 if it is not there in that state. */
export const startSpanEarlier = mutate(
  (orm, $: { monitorNum: number; startedAt: number; state: MonitorState; earlier: number }) =>
    orm
      .update(monitorSpans)
      .set({ startedAt: $.earlier })
      .where(
        and(
          eq(monitorSpans.monitorNum, $.monitorNum),
          eq(monitorSpans.startedAt, $.startedAt),
          eq(monitorSpans.state, $.state),
        ),
      ),
);

export const deleteSpans = mutate((orm, $: { monitorNum: number }) =>
  orm.delete(monitorSpans).where(eq(monitorSpans.monitorNum, $.monitorNum)),
);

/** Lets the results of a monitor from a time on (unix ms) be rolled up again. */
export const rollUpAgainFrom = mutate((orm, $: { monitorNum: number; at: number }) =>
  orm
    .update(monitorStates)
    .set({ rolledUntil: $.at })
    .where(and(eq(monitorStates.monitorNum, $.monitorNum), gt(monitorStates.rolledUntil, $.at))),
);

/** Lists the monitors of a component. */
export const listMonitorsOfComponent = selectMany((orm, $: { componentId: string }) =>
  orm
    .select({ num: monitors.num, intervalSeconds: monitors.intervalSeconds })
    .from(monitorComponents)
    .innerJoin(monitors, eq(monitors.id, monitorComponents.monitorId))
    .where(and(eq(monitorComponents.componentId, $.componentId), isNull(monitors.deletedAt))),
);
