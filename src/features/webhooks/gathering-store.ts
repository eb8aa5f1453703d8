/* Turns of messages about monitors, which are set when they are queued. */
import { and, asc, eq, sql } from "drizzle-orm";
import { replaceIn } from "../../db/replace";
import {
  insertInto,
  mutate,
  mutateByIds,
  selectByIds,
  selectMany,
  selectOne,
} from "../../db/statements";
import { events } from "../../db/tables/events";
import { deliveries, deliveryGroups, webhookBursts, webhooks } from "../../db/tables/webhooks";

/** Lists the properties of events that decide when their messages are sent. */
export const listEventTurns = selectByIds((orm, isOneOf) =>
  orm
    .select({
      id: events.id,
      type: events.type,
      subjectId: events.subjectId,
      at: events.at,
    })
    .from(events)
    .where(isOneOf(events.id)),
);

/** Lists the gathering time of endpoints, with the columns that decide if their messages are gathered. */
export const listGroupSeconds = selectByIds((orm, isOneOf) =>
  orm
    .select({
      id: webhooks.id,
      format: webhooks.format,
      settings: webhooks.settings,
      groupSeconds: webhooks.groupSeconds,
    })
    .from(webhooks)
    .where(isOneOf(webhooks.id)),
);

export const findBurst = selectOne((orm, $: { webhookId: string }) =>
  orm
    .select({ endsAt: webhookBursts.endsAt, hasDown: webhookBursts.hasDown })
    .from(webhookBursts)
    .where(eq(webhookBursts.webhookId, $.webhookId)),
);

export const saveBurst = replaceIn(webhookBursts, ["webhookId"]);

// The same text as in the condition of the partial index, so that SQLite uses it.
const isGathering = sql`${deliveries.gathers} = 1 AND ${deliveries.status} = 'pending'`;

/** Ends the wait for the next group of an endpoint. */
export const endGathering = mutate((orm, $: { webhookId: string; now: number }) =>
  orm
    .update(deliveries)
    .set({ nextTryAt: $.now })
    .where(sql`${deliveries.webhookId} = ${$.webhookId} AND ${isGathering}`),
);

/** Finds a delivery of an endpoint that waits for its next group. */
export const findGathering = selectOne((orm, $: { webhookId: string }) =>
  orm
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(sql`${deliveries.webhookId} = ${$.webhookId} AND ${isGathering}`)
    .limit(1),
);

/* Groups of deliveries, and deliveries that newer ones have overtaken. */

/** Lists at most `limit` deliveries of an endpoint that join its next group, oldest first, with the types of their events. */
export const listGathering = selectMany((orm, $: { webhookId: string; limit: number }) =>
  orm
    .select({ id: deliveries.id, type: events.type })
    .from(deliveries)
    .innerJoin(events, eq(events.id, deliveries.eventId))
    .where(and(eq(deliveries.webhookId, $.webhookId), isGathering))
    .orderBy(asc(deliveries.id))
    .limit($.limit),
);

export const insertGroup = insertInto(deliveryGroups);

/** Puts deliveries into a group, due at `now`. */
export const joinGroup = mutateByIds((orm, isOneOf, $: { groupId: string; now: number }) =>
  orm
    .update(deliveries)
    .set({ gathers: false, groupId: $.groupId, nextTryAt: $.now })
    .where(isOneOf(deliveries.id)),
);

/** Lets the waiting and the grouped deliveries of an endpoint be sent by themselves. */
export const separateDeliveries = mutate((orm, $: { webhookId: string; now: number }) =>
  orm
    .update(deliveries)
    .set({ gathers: false, groupId: null, nextTryAt: sql`min(${deliveries.nextTryAt}, ${$.now})` })
    .where(
      // The range lets SQLite use the index of pending deliveries.
      sql`${deliveries.webhookId} = ${$.webhookId} AND ${deliveries.status} = 'pending' AND ${deliveries.nextTryAt} >= 0
        AND (${deliveries.gathers} = 1 OR ${deliveries.groupId} IS NOT NULL)`,
    ),
);

/**
 * Lists the deliveries of a group, oldest first, with their events. One that was queued again by hand is sent by itself and
 * left out.
 */
export const listMembers = selectMany((orm, $: { groupId: string }) =>
  orm
    .select({ delivery: deliveries, event: events })
    .from(deliveries)
    .innerJoin(events, eq(events.id, deliveries.eventId))
    .where(and(eq(deliveries.groupId, $.groupId), eq(deliveries.triesBefore, 0)))
    .orderBy(asc(deliveries.id)),
);

/** Lists those of the deliveries after which a newer one about the same monitor was delivered. */
export const listOvertaken = selectByIds((orm, isOneOf) =>
  orm
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(
      sql`${isOneOf(deliveries.id)} AND ${deliveries.monitorId} IS NOT NULL AND ${deliveries.triesBefore} = 0
        AND EXISTS (SELECT 1 FROM deliveries AS newer
          WHERE newer.webhook_id = ${deliveries.webhookId} AND newer.monitor_id = ${deliveries.monitorId}
          AND newer.id > ${deliveries.id} AND newer.status = 'delivered')`,
    ),
);

/** Finds a newer delivery of one of the types about the same object that was delivered. `types` is a JSON list. */
export const findNewerDelivered = selectOne((orm, $: { id: string; types: string }) =>
  orm
    .select({ id: deliveries.id })
    .from(deliveries)
    .where(
      sql`${deliveries.id} = ${$.id} AND EXISTS (SELECT 1 FROM deliveries AS newer
        JOIN events AS event ON event.id = newer.event_id
        WHERE newer.webhook_id = ${deliveries.webhookId} AND newer.id > ${deliveries.id}
        AND newer.subject_id = ${deliveries.subjectId} AND newer.status = 'delivered'
        AND event.type IN (SELECT value FROM json_each(${$.types})))`,
    ),
);

/** Ends pending deliveries that newer ones have overtaken. */
export const supersedeDeliveries = mutateByIds((orm, isOneOf, $: { now: number }) =>
  orm
    .update(deliveries)
    .set({ status: "superseded", nextTryAt: null, finishedAt: $.now, gathers: false })
    .where(and(isOneOf(deliveries.id), eq(deliveries.status, "pending"))),
);

/**
 * Counts the monitors that are down, and down by the last message that the endpoint received about them. `except` is a
 * JSON list of monitors that are not counted.
 */
export const countKnownDown = selectOne((orm, $: { webhookId: string; except: string }) =>
  orm
    .select({
      count: sql<number>`(SELECT COUNT(*) FROM monitors AS monitor
        JOIN monitor_states AS current ON current.monitor_num = monitor.num
        WHERE current.state = 'down' AND monitor.deleted_at IS NULL
        AND monitor.id NOT IN (SELECT value FROM json_each(${$.except}))
        AND (SELECT event.type IN ('monitor.down', 'monitor.reminder', 'incident.created', 'incident.reopened')
          FROM deliveries AS received JOIN events AS event ON event.id = received.event_id
          WHERE received.webhook_id = ${$.webhookId} AND received.monitor_id = monitor.id AND received.status = 'delivered'
          ORDER BY received.id DESC LIMIT 1))`,
    })
    .from(webhooks)
    .where(eq(webhooks.id, $.webhookId)),
);

/** Deletes at most `limit` groups older than `before` (unix ms) without deliveries. */
export const deleteEmptyGroups = mutate((orm, $: { before: number; limit: number }) =>
  orm.delete(deliveryGroups).where(
    sql`${deliveryGroups.id} IN (SELECT id FROM delivery_groups AS old WHERE old.created_at < ${$.before}
        AND NOT EXISTS (SELECT 1 FROM deliveries WHERE group_id = old.id) LIMIT ${$.limit})`,
  ),
);
