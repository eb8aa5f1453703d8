import { type Static, Type } from "@sinclair/typebox";
import { Instant, Nullable, OneOf } from "../../base/schema";
import { toIso, toIsoOrNull } from "../../base/time";
import { DELIVERY_STATUSES } from "../../base/webhook";
import type { DeliveryRecord } from "./deliveries";
import type { TryRow } from "./delivery-store";
import { groupOf } from "./deliver/groups";

export const DeliveryStatusText = OneOf(DELIVERY_STATUSES, {
  title: "DeliveryStatus",
  description:
    "pending: a first or another attempt will follow; failed: attempts failed for three days; cancelled: the webhook was disabled before it arrived, or its format has no message for the event; superseded: a newer message about the same object arrived first.",
});

const DeliveryTry = Type.Object(
  {
    at: Instant,
    status_code: Nullable(Type.Integer({ description: "Null without a response." })),
    latency_ms: Type.Integer({ minimum: 0 }),
    error: Nullable(
      Type.String({
        description: "Reason for a missing response, or the reply of the mail relay.",
      }),
    ),
    answer: Nullable(Type.String({ description: "First 20 KB of the response, if it was text." })),
  },
  { title: "DeliveryTry" },
);
type DeliveryTry = Static<typeof DeliveryTry>;

export const Delivery = Type.Object(
  {
    id: Type.String({ examples: ["dlv_01kah2v9w0e0rs6x0h3ye0a1bc"] }),
    event_id: Type.String({
      description: "Header `webhook-id` of every attempt that sends it by itself.",
      examples: ["evt_01kah2v9w0e0rs6x0h3ye0a1bc"],
    }),
    event_type: Type.String({ examples: ["incident.created"] }),
    group_id: Nullable(
      Type.String({
        description:
          "Group of deliveries about monitors that one message sends, set at its first attempt: then the header `webhook-id`. They have the same attempts. Null for a delivery by itself.",
        examples: ["dgr_01kah2v9w0e0rs6x0h3ye0a1bc"],
      }),
    ),
    sent_with: Type.Integer({
      minimum: 0,
      description: "Number of other deliveries of its group.",
    }),
    status: DeliveryStatusText,
    tries: Type.Integer({ minimum: 0 }),
    next_try_at: Nullable(Instant),
    last_try: Nullable(DeliveryTry),
    created_at: Instant,
    delivered_at: Nullable(Instant),
  },
  { title: "Delivery" },
);
export type Delivery = Static<typeof Delivery>;

function presentTry({ at, statusCode, latencyMs, error, answer }: TryRow): DeliveryTry {
  return { at: toIso(at), status_code: statusCode, latency_ms: latencyMs, error, answer };
}

export function presentDelivery({ row, eventType, lastTry, sentWith }: DeliveryRecord): Delivery {
  return {
    id: row.id,
    event_id: row.eventId,
    event_type: eventType,
    group_id: groupOf(row),
    sent_with: sentWith,
    status: row.status,
    tries: row.tries,
    next_try_at: toIsoOrNull(row.nextTryAt),
    last_try: lastTry && presentTry(lastTry),
    created_at: toIso(row.createdAt),
    delivered_at: row.status === "delivered" ? toIsoOrNull(row.finishedAt) : null,
  };
}
