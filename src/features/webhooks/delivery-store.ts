import { and, asc, eq, gt, lte, sql } from "drizzle-orm";
import { insertInto, mutate, type Reader, selectMany, selectOne } from "../../db";
import { events } from "../../db/tables/events";
import { pages } from "../../db/tables/pages";
import {
  deliveries,
  deliveryBatches,
  deliveryTries,
  webhookHours,
  webhooks,
} from "../../db/tables/webhooks";
import type { DeliveryStatus } from "../../domain/webhook";

export type DeliveryRow = typeof deliveries.$inferSelect;
export type TryRow = typeof deliveryTries.$inferSelect;

/**
 * Queues events for endpoints. `pairs` is a JSON list of `[delivery id, event id, webhook id]`; what was
 * deleted meanwhile is left out. Each delivery is due at the time of its event.
 */
export const insertDeliveries = mutate((orm, $: { pairs: string }) =>
  orm.insert(deliveries).select(
    sql`SELECT pair.value ->> 0, webhook.id, event.id, event.subject_id, 'pending', 0, 0, event.at, event.at, NULL
      FROM json_each(${$.pairs}) AS pair
      CROSS JOIN events AS event ON event.id = pair.value ->> 1
      CROSS JOIN webhooks AS webhook ON webhook.id = pair.value ->> 2
      WHERE true`,
  ),
);

export type BatchRow = typeof deliveryBatches.$inferSelect;

/** Adds a batch behind all others; `id` null gives it the next number. */
export const insertBatch = insertInto(deliveryBatches);

/** The batch that is written next. */
export const findFirstBatch = selectOne((orm, _$: Record<string, never>) =>
  orm.select().from(deliveryBatches).orderBy(asc(deliveryBatches.id)).limit(1),
);

/** True if deliveries wait to be written as rows. */
export function hasBatches(reader: Reader): boolean {
  return findFirstBatch(reader, {}) !== undefined;
}

export const setBatchWritten = mutate((orm, $: Pick<BatchRow, "id" | "written">) =>
  orm.update(deliveryBatches).set({ written: $.written }).where(eq(deliveryBatches.id, $.id)),
);

export const deleteBatch = mutate((orm, $: { id: number }) =>
  orm.delete(deliveryBatches).where(eq(deliveryBatches.id, $.id)),
);

export const insertTry = insertInto(deliveryTries);

// Said as the index of what is due says it.
const isPending = sql`${deliveries.status} = 'pending'`;
/** Not tried yet since it was queued. */
const isFirst = sql<number>`${deliveries.tries} = ${deliveries.triesBefore}`;

/** Lists the deliveries due to an endpoint at `now`, the longest due first. */
export const listDue = selectMany((orm, $: { webhookId: string; now: number; limit: number }) =>
  orm
    .select({
      id: deliveries.id,
      subjectId: deliveries.subjectId,
      isFirst: isFirst.mapWith(Boolean),
    })
    .from(deliveries)
    .where(and(eq(deliveries.webhookId, $.webhookId), isPending, lte(deliveries.nextTryAt, $.now)))
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

/** The endpoints that something waits for, be they enabled, disabled or deleted. */
export const listAwaited = selectMany((orm, _$: Record<string, never>) =>
  orm
    .select({ id: webhooks.id })
    .from(webhooks)
    .where(
      sql`EXISTS (SELECT 1 FROM ${deliveries} WHERE ${deliveries.webhookId} = ${webhooks.id} AND ${isPending})`,
    ),
);

/** All that a try needs: the delivery with its event, its endpoint, and the event's page if it has one. */
export const findForTry = selectOne((orm, $: { id: string }) =>
  orm
    .select({
      delivery: deliveries,
      event: events,
      webhook: webhooks,
      page: {
        name: pages.name,
        slug: pages.slug,
        visibility: pages.visibility,
        customDomains: pages.customDomains,
      },
    })
    .from(deliveries)
    .innerJoin(events, eq(events.id, deliveries.eventId))
    .innerJoin(webhooks, eq(webhooks.id, deliveries.webhookId))
    .leftJoin(pages, eq(pages.id, events.pageId))
    .where(eq(deliveries.id, $.id)),
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

export const setDeliveryProgress = mutate(
  (
    orm,
    $: {
      id: string;
      status: DeliveryStatus;
      tries: number;
      nextTryAt: number | null;
      finishedAt: number | null;
    },
  ) =>
    orm
      .update(deliveries)
      .set({
        status: $.status,
        tries: $.tries,
        nextTryAt: $.nextTryAt,
        finishedAt: $.finishedAt,
      })
      .where(eq(deliveries.id, $.id)),
);

/** Counts a try in its hour (unix ms of the hour's beginning). */
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
 * Makes due, at most `limit` a call, what was to be tried first after `now`, or again after `latest`,
 * which is later than any wait ends: the clock was set back meanwhile.
 */
export const hastenWaiting = mutate((orm, $: { now: number; latest: number; limit: number }) =>
  orm
    .update(deliveries)
    .set({ nextTryAt: $.now })
    .where(
      sql`${deliveries.id} IN (SELECT id FROM ${deliveries}
          WHERE status = 'pending' AND next_try_at > ${$.now}
          AND (tries = tries_before OR next_try_at > ${$.latest})
          LIMIT ${$.limit})`,
    ),
);

/** Cancels at most `limit` of what waits for an endpoint, unless that takes something again. */
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

/** Takes back a delivery for which nothing was ever sent. */
export const deleteUntried = mutate((orm, $: { id: string }) =>
  orm.delete(deliveries).where(and(eq(deliveries.id, $.id), eq(deliveries.tries, 0))),
);

/** Cancels one delivery that waits. */
export const cancelDelivery = mutate((orm, $: { id: string; now: number }) =>
  orm
    .update(deliveries)
    .set({ status: "cancelled", nextTryAt: null, finishedAt: $.now })
    .where(and(eq(deliveries.id, $.id), isPending)),
);
