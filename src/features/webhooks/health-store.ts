import { and, desc, eq, gte, isNull, lte, sql } from "drizzle-orm";
import { mutate, selectMany, selectOne } from "../../db/statements";
import { deliveries, deliveryTries, webhookHours, webhooks } from "../../db/tables/webhooks";

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
