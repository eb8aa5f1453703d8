import { and, asc, desc, eq, gte, isNull, lt, lte, sql } from "drizzle-orm";
import type { DeliveryStatus } from "../../base/webhook";
import { deleteBy, listBy } from "../../db/rows";
import { mutate, type Orm, selectMany, selectOne } from "../../db/statements";
import { events } from "../../db/tables/events";
import { deliveries, deliveryTries, webhookHours, webhooks } from "../../db/tables/webhooks";

const columns = {
  row: deliveries,
  eventType: events.type,
  lastTry: deliveryTries,
  /** Number of other deliveries of its group, which one message sends. */
  sentWith: sql<number>`(SELECT COUNT(*) FROM deliveries AS other WHERE ${deliveries.triesBefore} = 0
    AND other.group_id = ${deliveries.groupId} AND other.tries_before = 0 AND other.id <> ${deliveries.id})`,
};

const isLastTry = and(
  eq(deliveryTries.deliveryId, deliveries.id),
  eq(deliveryTries.number, deliveries.tries),
);

/** Selects deliveries, each with the type of its event and its last attempt. */
const selectDeliveries = (orm: Orm) =>
  orm
    .select(columns)
    .from(deliveries)
    .innerJoin(events, eq(events.id, deliveries.eventId))
    .leftJoin(deliveryTries, isLastTry);

interface ListParams {
  webhookId: string;
  /** Only ids below this one. */
  before: string;
  limit: number;
}

/** Lists the deliveries of an endpoint, newest first, each with its last attempt. */
export const listDeliveryRows = selectMany(
  (orm, $: ListParams & { status: DeliveryStatus | null }) =>
    selectDeliveries(orm)
      .where(
        and(
          eq(deliveries.webhookId, $.webhookId),
          lt(deliveries.id, $.before),
          sql`(${$.status} IS NULL OR ${deliveries.status} = ${$.status})`,
        ),
      )
      .orderBy(desc(deliveries.id))
      .limit($.limit),
);

/** Number of newest deliveries of an endpoint among which those about one object are found. */
const NEWEST_READ = 200;

/** Finds the newest delivery of an endpoint about an object, among its 200 newest. */
export const findNewestDeliveryAbout = selectOne(
  (orm, $: { webhookId: string; subjectId: string }) =>
    selectDeliveries(orm)
      .where(
        and(
          eq(deliveries.subjectId, $.subjectId),
          sql`${deliveries.id} IN (SELECT id FROM deliveries WHERE webhook_id = ${$.webhookId}
            ORDER BY id DESC LIMIT ${sql.raw(String(NEWEST_READ))})`,
        ),
      )
      .orderBy(desc(deliveries.id))
      .limit(1),
);

export const findDelivery = selectOne((orm, $: { webhookId: string; id: string }) =>
  selectDeliveries(orm).where(and(eq(deliveries.id, $.id), eq(deliveries.webhookId, $.webhookId))),
);

export const findDeliveryOfEvent = selectOne((orm, $: { webhookId: string; eventId: string }) =>
  selectDeliveries(orm).where(
    and(eq(deliveries.eventId, $.eventId), eq(deliveries.webhookId, $.webhookId)),
  ),
);

/** Lists the attempts of a delivery, oldest first. */
export const listTries = listBy(deliveryTries, ["deliveryId"], {
  order: [asc(deliveryTries.number)],
});

/** Queues a delivery again, due at `now`, with the retry delays of a new one. */
export const queueAgain = mutate((orm, $: { id: string; now: number }) =>
  orm
    .update(deliveries)
    .set({
      status: "pending",
      nextTryAt: $.now,
      triesBefore: sql`${deliveries.tries}`,
      finishedAt: null,
      // It is sent by itself.
      gathers: false,
      groupId: sql`iif(${deliveries.tries} = 0, NULL, ${deliveries.groupId})`,
      // One that was overtaken is sent all the same.
      monitorId: sql`iif(EXISTS (SELECT 1 FROM deliveries AS newer WHERE newer.webhook_id = ${deliveries.webhookId}
        AND newer.monitor_id = ${deliveries.monitorId} AND newer.id > ${deliveries.id}), NULL, ${deliveries.monitorId})`,
    })
    .where(eq(deliveries.id, $.id)),
);

/** Lists failed deliveries queued at `since` (unix ms) or later, oldest first, after an id. */
export const listUndelivered = selectMany(
  (orm, $: { webhookId: string; since: number; after: string; limit: number }) =>
    orm
      .select({ id: deliveries.id })
      .from(deliveries)
      .where(
        // The same text as in the condition of the partial index, so that SQLite uses it.
        sql`${deliveries.status} IN ('failed', 'cancelled') AND ${deliveries.webhookId} = ${$.webhookId}
          AND ${deliveries.id} > ${$.after} AND ${deliveries.createdAt} >= ${$.since}`,
      )
      .orderBy(asc(deliveries.id))
      .limit($.limit),
);

/** Lists events older than `before` (unix ms) without pending deliveries, oldest first. */
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

/** Deletes at most `limit` of an event's deliveries, with their attempts. */
export const deleteDeliveriesOf = mutate((orm, $: { eventId: string; limit: number }) =>
  orm
    .delete(deliveries)
    .where(
      sql`${deliveries.id} IN (SELECT id FROM ${deliveries} WHERE event_id = ${$.eventId} LIMIT ${$.limit})`,
    ),
);

export const deleteEvent = deleteBy(events, ["id"]);

// The same text as in the condition of the partial index, which covers these queries.
const isPending = sql`${deliveries.status} = 'pending'`;

/**
 * Counts the outcomes of an endpoint's attempts in the hours that start from `since` to `until`
 * (unix ms). `until` excludes future hours, which a clock that was ahead may have written.
 */
export const countTries = selectOne((orm, $: { webhookId: string; since: number; until: number }) =>
  orm
    .select({
      succeeded: sql<number>`COALESCE(SUM(${webhookHours.succeeded}), 0)`,
      failed: sql<number>`COALESCE(SUM(${webhookHours.failed}), 0)`,
    })
    .from(webhookHours)
    .where(
      and(
        eq(webhookHours.webhookId, $.webhookId),
        gte(webhookHours.hour, $.since),
        lte(webhookHours.hour, $.until),
      ),
    ),
);

/**
 * Counts the outcomes of all endpoints' attempts in the hours that start from `since` to `until`
 * (unix ms), and the endpoints.
 */
export const countAllTries = selectOne((orm, $: { since: number; until: number }) =>
  orm
    .select({
      endpoints: sql<number>`COUNT(DISTINCT ${webhooks.id})`,
      succeeded: sql<number>`COALESCE(SUM(${webhookHours.succeeded}), 0)`,
      failed: sql<number>`COALESCE(SUM(${webhookHours.failed}), 0)`,
    })
    .from(webhooks)
    .leftJoin(
      webhookHours,
      and(
        eq(webhookHours.webhookId, webhooks.id),
        gte(webhookHours.hour, $.since),
        lte(webhookHours.hour, $.until),
      ),
    )
    .where(isNull(webhooks.deletedAt)),
);

/** Lists the backlog of each endpoint: its size and its oldest delivery. */
export const listBacklogs = selectMany((orm, _$: Record<string, never>) =>
  orm
    .select({
      webhookId: deliveries.webhookId,
      count: sql<number>`COUNT(*)`,
      oldestId: sql<string>`MIN(${deliveries.id})`,
    })
    .from(deliveries)
    .where(isPending)
    .groupBy(deliveries.webhookId),
);

export const findQueuedAt = selectOne((orm, $: { id: string }) =>
  orm.select({ createdAt: deliveries.createdAt }).from(deliveries).where(eq(deliveries.id, $.id)),
);

/** Finds the last failed attempt of an endpoint's newest deliveries. */
export const findLastFailure = selectOne((orm, $: { webhookId: string; among: number }) =>
  orm
    .select({
      at: deliveryTries.at,
      statusCode: deliveryTries.statusCode,
      error: deliveryTries.error,
    })
    .from(deliveryTries)
    .where(
      sql`${deliveryTries.deliveryId} IN (SELECT id FROM ${deliveries} WHERE webhook_id = ${$.webhookId} ORDER BY id DESC LIMIT ${$.among})
        AND (${deliveryTries.statusCode} IS NULL OR ${deliveryTries.statusCode} NOT BETWEEN 200 AND 299)`,
    )
    .orderBy(desc(deliveryTries.at))
    .limit(1),
);

/** Deletes hours older than `before` (unix ms), at most `limit`. */
export const deleteHoursBefore = mutate((orm, $: { before: number; limit: number }) =>
  orm
    .delete(webhookHours)
    .where(
      sql`(webhook_id, hour) IN (SELECT webhook_id, hour FROM ${webhookHours} WHERE hour < ${$.before} LIMIT ${$.limit})`,
    ),
);
