/* Reminders of outages. None is hot: the search every few seconds reads only monitors that are down. */
import { and, eq, isNull, sql } from "drizzle-orm";
import { mutate, selectMany, selectOne } from "../../db/statements";
import { monitors, monitorStates } from "../../db/tables/monitors";

/** Time of the last message about an outage, before which no reminder is due again. */
const lastMessageAt = sql<number>`coalesce(${monitorStates.remindedAt}, ${monitorStates.since})`;

// The literal state is that of a partial index. A last message in the future is from before the clock was set back.
const isReminderDue = (now: unknown) =>
  and(
    eq(monitors.num, monitorStates.monitorNum),
    sql`${monitorStates.state} = 'down' AND ${monitors.reminderSeconds} > 0
      AND (${lastMessageAt} + ${monitors.reminderSeconds} * 1000 <= ${now} OR ${lastMessageAt} > ${now})`,
    isNull(monitors.deletedAt),
  );

/** Lists the monitors whose reminder is due at `now` (unix ms), starting from those that are down. */
export const listDueReminders = selectMany((orm, $: { now: number }) =>
  orm
    .select({ num: monitors.num })
    .from(monitorStates)
    .crossJoin(monitors)
    .where(isReminderDue($.now)),
);

/** Finds the number of reminders of a monitor whose reminder is due at `now` (unix ms). */
export const findDueReminder = selectOne((orm, $: { monitorNum: number; now: number }) =>
  orm
    .select({ reminders: monitorStates.reminders })
    .from(monitorStates)
    .crossJoin(monitors)
    .where(and(eq(monitorStates.monitorNum, $.monitorNum), isReminderDue($.now))),
);

/** Saves the number of reminders of an outage, and the time of the last message about it (unix ms). */
export const saveReminder = mutate(
  (orm, $: { monitorNum: number; reminders: number; remindedAt: number }) =>
    orm
      .update(monitorStates)
      .set({ reminders: $.reminders, remindedAt: $.remindedAt })
      .where(eq(monitorStates.monitorNum, $.monitorNum)),
);
