import { asc, eq, lt, sql } from "drizzle-orm";
import { mutate, selectMany } from "../../db";
import { events } from "../../db/tables/events";
import { deliveries } from "../../db/tables/webhooks";

/** Events before a moment (unix ms) that nobody waits for any more, the oldest first. */
export const listEventsBefore = selectMany((orm, $: { before: number; limit: number }) =>
  orm
    .select({ id: events.id })
    .from(events)
    .where(
      sql`${lt(events.at, $.before)} AND NOT EXISTS
        (SELECT 1 FROM ${deliveries} WHERE ${eq(deliveries.eventId, events.id)} AND ${deliveries.status} = 'pending')`,
    )
    .orderBy(asc(events.at))
    .limit($.limit),
);

/** Deletes at most `limit` of an event's deliveries, with their tries. */
export const deleteDeliveriesOf = mutate((orm, $: { eventId: string; limit: number }) =>
  orm
    .delete(deliveries)
    .where(
      sql`${deliveries.id} IN (SELECT id FROM ${deliveries} WHERE event_id = ${$.eventId} LIMIT ${$.limit})`,
    ),
);

export const deleteEvent = mutate((orm, $: { id: string }) =>
  orm.delete(events).where(eq(events.id, $.id)),
);
