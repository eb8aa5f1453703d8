/* The history of the demo. Nothing is hot: each statement runs once per demo, in bulk. */
import { eq, sql } from "drizzle-orm";
import { listBy } from "../db/rows";
import { insertAllInto, mutate, type Tx, updateById } from "../db/statements";
import { componentCauses } from "../db/tables/components";
import { apiKeyHours } from "../db/tables/keys";
import { mailings, mails, subscribers } from "../db/tables/mail";
import {
  heartbeatSignals,
  monitorChecks,
  monitorRollups,
  monitorSpans,
  monitorStates,
} from "../db/tables/monitors";
import { deliveries, deliveryTries, webhookHours } from "../db/tables/webhooks";

export type RollupRow = typeof monitorRollups.$inferInsert;

export const insertCauses = insertAllInto(componentCauses);
export const insertKeyHours = insertAllInto(apiKeyHours);
export const insertMails = insertAllInto(mails);
export const updateMailing = updateById(mailings);
export const listMailings = listBy(mailings, []);
export const listActiveSubscribers = listBy(subscribers, [], {
  where: eq(subscribers.status, "active"),
});
export const insertChecks = insertAllInto(monitorChecks);
export const insertRollups = insertAllInto(monitorRollups);
export const insertSignals = insertAllInto(heartbeatSignals);
export const insertSpans = insertAllInto(monitorSpans);

/** Sets the state that a monitor has at the end of its history. */
export const saveUp = mutate(
  (
    orm,
    $: { monitorNum: number; since: number; rolledUntil: number; heartbeatAt: number | null },
  ) =>
    orm
      .update(monitorStates)
      .set({
        state: "up",
        since: $.since,
        rolledUntil: $.rolledUntil,
        heartbeatAt: $.heartbeatAt,
      })
      .where(eq(monitorStates.monitorNum, $.monitorNum)),
);

/** Condition for the deliveries whose first attempt failed. */
const isRetried = sql`deliveries.rowid % 9 = 0`;
/** Time between the attempts of a delivery, in ms. */
const RETRY_MS = 6_000;

const addFirstTries = mutate((orm, _$: Record<string, never>) =>
  orm.insert(deliveryTries).select(
    sql`SELECT id, 1, created_at + 300, 90 + deliveries.rowid * 37 % 160, iif(${isRetried}, 503, 200),
        NULL, iif(${isRetried}, '{"error":"busy"}', '{"received":true}')
      FROM deliveries WHERE status = 'pending'`,
  ),
);

const addRetries = mutate((orm, _$: Record<string, never>) =>
  orm.insert(deliveryTries).select(
    sql`SELECT id, 2, created_at + ${sql.raw(String(RETRY_MS))}, 130, 200, NULL, '{"received":true}'
      FROM deliveries WHERE status = 'pending' AND ${isRetried}`,
  ),
);

const countTries = mutate((orm, _$: Record<string, never>) =>
  orm.insert(webhookHours).select(
    sql`SELECT webhook_id, at - at % 3600000, sum(status_code = 200), sum(status_code <> 200)
      FROM delivery_tries JOIN deliveries ON id = delivery_id GROUP BY 1, 2`,
  ),
);

const endDeliveries = mutate((orm, _$: Record<string, never>) =>
  orm
    .update(deliveries)
    .set({
      status: "delivered",
      tries: sql`1 + (${isRetried})`,
      nextTryAt: null,
      finishedAt: sql`created_at + 500 + (${isRetried}) * ${sql.raw(String(RETRY_MS))}`,
    })
    .where(eq(deliveries.status, "pending")),
);

/** Delivers what waits, a few of them at the second attempt, each soon after its event. */
export function deliverAll(tx: Tx): void {
  addFirstTries(tx, {});
  addRetries(tx, {});
  countTries(tx, {});
  endDeliveries(tx, {});
}
