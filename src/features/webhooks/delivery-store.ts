import { and, asc, eq, gt, lte, not, sql } from "drizzle-orm";
import { deleteBy, setBy } from "../../db/rows";
import { insertInto, mutate, type Reader, selectMany, selectOne } from "../../db/statements";
import { events } from "../../db/tables/events";
import { pageAddress, pages } from "../../db/tables/pages";
import {
  deliveries,
  deliveryBatches,
  deliveryTries,
  webhookHours,
  webhooks,
} from "../../db/tables/webhooks";

export type DeliveryRow = typeof deliveries.$inferSelect;
export type TryRow = typeof deliveryTries.$inferSelect;

/**
 * Queues events for endpoints. `rows` is a JSON list of `[delivery id, event id, webhook id, monitor id or null, 1 if it
 * gathers, due time or null]`; deleted events and endpoints are left out. Without a due time, a delivery is due at the
 * time of its event.
 */
export const insertDeliveries = mutate((orm, $: { rows: string }) =>
  orm.insert(deliveries).select(
    sql`SELECT row.value ->> 0, webhook.id, event.id, event.subject_id, 'pending', 0, 0,
        COALESCE(row.value ->> 5, event.at), event.at, NULL, row.value ->> 3, row.value ->> 4, NULL
      FROM json_each(${$.rows}) AS row
      CROSS JOIN events AS event ON event.id = row.value ->> 1
      CROSS JOIN webhooks AS webhook ON webhook.id = row.value ->> 2
      WHERE true`,
  ),
);

/** Adds a batch after all others; `id` null gives it the next number. */
export const insertBatch = insertInto(deliveryBatches);

/** Finds the batch that is written next. */
export const findFirstBatch = selectOne((orm, _$: Record<string, never>) =>
  orm.select().from(deliveryBatches).orderBy(asc(deliveryBatches.id)).limit(1),
);

/** True if deliveries wait to be written as rows. */
export function hasBatches(reader: Reader): boolean {
  return findFirstBatch(reader, {}) !== undefined;
}

export const setBatchWritten = setBy(deliveryBatches, ["id"], ["written"]);

export const deleteBatch = deleteBy(deliveryBatches, ["id"]);

export const insertTry = insertInto(deliveryTries);

// The same text as in the condition of the partial index, so that SQLite uses it.
const isPending = sql`${deliveries.status} = 'pending'`;
/** True if there was no attempt since the delivery was queued. */
const isFirst = sql<number>`${deliveries.tries} = ${deliveries.triesBefore}`;

/**
 * True if an older delivery is sent with this one: the oldest one stands for all that wait for the next group of the
 * endpoint, and for all of a group.
 */
const hasLeader = sql`((${deliveries.gathers} = 1 AND EXISTS (SELECT 1 FROM deliveries AS older
    WHERE older.webhook_id = ${deliveries.webhookId} AND older.gathers = 1 AND older.status = 'pending'
    AND older.id < ${deliveries.id}))
  OR (${deliveries.groupId} IS NOT NULL AND ${deliveries.triesBefore} = 0 AND EXISTS (SELECT 1 FROM deliveries AS older
    WHERE older.group_id = ${deliveries.groupId} AND older.status = 'pending' AND older.tries_before = 0
    AND older.id < ${deliveries.id})))`;

/** True if a delivery is about a monitor, for people. Such deliveries of an endpoint are sent one after another. */
const isOrdered = sql<number>`${deliveries.monitorId} IS NOT NULL OR ${deliveries.gathers} = 1 OR ${deliveries.groupId} IS NOT NULL`;

/** Lists the deliveries due to an endpoint at `now`, one of each group, the longest due first. */
export const listDue = selectMany((orm, $: { webhookId: string; now: number; limit: number }) =>
  orm
    .select({
      id: deliveries.id,
      subjectId: deliveries.subjectId,
      isFirst: isFirst.mapWith(Boolean),
      isOrdered: isOrdered.mapWith(Boolean),
    })
    .from(deliveries)
    .where(
      and(
        eq(deliveries.webhookId, $.webhookId),
        isPending,
        lte(deliveries.nextTryAt, $.now),
        not(hasLeader),
      ),
    )
    .orderBy(asc(deliveries.nextTryAt), asc(deliveries.id))
    .limit($.limit),
);

/** Finds the time of an endpoint's next delivery after `now`. */
export const findNextDue = selectOne((orm, $: { webhookId: string; now: number }) =>
  orm
    .select({ at: deliveries.nextTryAt })
    .from(deliveries)
    .where(and(eq(deliveries.webhookId, $.webhookId), isPending, gt(deliveries.nextTryAt, $.now)))
    .orderBy(asc(deliveries.nextTryAt))
    .limit(1),
);

/** Lists the endpoints with pending deliveries: enabled, disabled or deleted. */
export const listAwaited = selectMany((orm, _$: Record<string, never>) =>
  orm
    .select({ id: webhooks.id })
    .from(webhooks)
    .where(
      sql`EXISTS (SELECT 1 FROM ${deliveries} WHERE ${deliveries.webhookId} = ${webhooks.id} AND ${isPending})`,
    ),
);

const pageOfEvent = { name: pages.name, ...pageAddress };

/**
 * Finds everything that an attempt needs: the delivery, its event, its endpoint, and the event's
 * page if there is one.
 */
export const findForTry = selectOne((orm, $: { id: string }) =>
  orm
    .select({
      delivery: deliveries,
      event: events,
      webhook: webhooks,
      page: pageOfEvent,
    })
    .from(deliveries)
    .innerJoin(events, eq(events.id, deliveries.eventId))
    .innerJoin(webhooks, eq(webhooks.id, deliveries.webhookId))
    .leftJoin(pages, eq(pages.id, events.pageId))
    .where(eq(deliveries.id, $.id)),
);

export type DeliveryToTry = NonNullable<ReturnType<typeof findForTry>>;

/** Finds the page of an event. */
export const findEventPage = selectOne((orm, $: { id: string }) =>
  orm.select(pageOfEvent).from(pages).where(eq(pages.id, $.id)),
);

/** Finds the properties that decide the consequences of an attempt. */
export const findDeliveryProgress = selectOne((orm, $: { id: string }) =>
  orm
    .select({
      webhookId: deliveries.webhookId,
      status: deliveries.status,
      tries: deliveries.tries,
      triesBefore: deliveries.triesBefore,
      eventType: events.type,
      failingSince: webhooks.failingSince,
    })
    .from(deliveries)
    .innerJoin(events, eq(events.id, deliveries.eventId))
    .innerJoin(webhooks, eq(webhooks.id, deliveries.webhookId))
    .where(eq(deliveries.id, $.id)),
);

export const setDeliveryProgress = setBy(
  deliveries,
  ["id"],
  ["status", "tries", "nextTryAt", "finishedAt"],
);

/** Counts an attempt in its hour (start in unix ms). */
export const addToWebhookHour = mutate(
  (orm, $: { webhookId: string; hour: number; succeeded: number; failed: number }) =>
    orm
      .insert(webhookHours)
      .values({
        webhookId: $.webhookId,
        hour: $.hour,
        succeeded: $.succeeded,
        failed: $.failed,
      })
      .onConflictDoUpdate({
        target: [webhookHours.webhookId, webhookHours.hour],
        set: {
          succeeded: sql`${webhookHours.succeeded} + excluded.succeeded`,
          failed: sql`${webhookHours.failed} + excluded.failed`,
        },
      }),
);

/**
 * Makes deliveries due at `now`, at most `limit`: first attempts that are due later, or after `gatheredUntil` if they are
 * gathered, and retries due after `latest`. Such due times exist only if the clock was set back.
 */
export const capDueTimesAfter = mutate(
  (orm, $: { now: number; gatheredUntil: number; latest: number; limit: number }) =>
    orm
      .update(deliveries)
      .set({ nextTryAt: $.now })
      .where(
        sql`${deliveries.id} IN (SELECT id FROM ${deliveries}
          WHERE status = 'pending' AND next_try_at > ${$.now}
          AND (CASE WHEN gathers THEN next_try_at > ${$.gatheredUntil} ELSE tries = tries_before END
            OR next_try_at > ${$.latest})
          LIMIT ${$.limit})`,
      ),
);

/** Cancels at most `limit` pending deliveries of an endpoint, unless it is enabled again. */
export const cancelPending = mutate((orm, $: { webhookId: string; now: number; limit: number }) =>
  orm
    .update(deliveries)
    .set({ status: "cancelled", nextTryAt: null, finishedAt: $.now })
    .where(
      sql`${deliveries.id} IN (SELECT id FROM ${deliveries}
          WHERE webhook_id = ${$.webhookId} AND status = 'pending'
          AND NOT EXISTS (SELECT 1 FROM ${webhooks} WHERE id = ${$.webhookId} AND enabled AND deleted_at IS NULL)
          LIMIT ${$.limit})`,
    ),
);

/** Deletes a delivery without an attempt. */
export const deleteUntried = mutate((orm, $: { id: string }) =>
  orm.delete(deliveries).where(and(eq(deliveries.id, $.id), eq(deliveries.tries, 0))),
);

/** Cancels one pending delivery. */
export const cancelDelivery = mutate((orm, $: { id: string; now: number }) =>
  orm
    .update(deliveries)
    .set({ status: "cancelled", nextTryAt: null, finishedAt: $.now })
    .where(and(eq(deliveries.id, $.id), isPending)),
);
