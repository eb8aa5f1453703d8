/* Turns of messages about monitors, which are set when they are queued. */
import { eq, sql } from "drizzle-orm";
import { mutate, selectByIds, selectOne } from "../../db/statements";
import { events } from "../../db/tables/events";
import { deliveries, webhookBursts, webhooks } from "../../db/tables/webhooks";

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

/** Lists the format and the gathering time of endpoints. */
export const listGroupSeconds = selectByIds((orm, isOneOf) =>
  orm
    .select({ id: webhooks.id, format: webhooks.format, groupSeconds: webhooks.groupSeconds })
    .from(webhooks)
    .where(isOneOf(webhooks.id)),
);

export const findBurst = selectOne((orm, $: { webhookId: string }) =>
  orm
    .select({ endsAt: webhookBursts.endsAt, hasDown: webhookBursts.hasDown })
    .from(webhookBursts)
    .where(eq(webhookBursts.webhookId, $.webhookId)),
);

export const saveBurst = mutate((orm, $: typeof webhookBursts.$inferSelect) =>
  orm
    .insert(webhookBursts)
    .values({ webhookId: $.webhookId, endsAt: $.endsAt, hasDown: $.hasDown })
    .onConflictDoUpdate({
      target: webhookBursts.webhookId,
      set: { endsAt: sql`excluded.ends_at`, hasDown: sql`excluded.has_down` },
    }),
);

// The same text as in the condition of the partial index, so that SQLite uses it.
export const isGathering = sql`${deliveries.gathers} = 1 AND ${deliveries.status} = 'pending'`;

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
