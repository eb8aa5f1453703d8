import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Ctx } from "../../context";
import { actorOf } from "../../http/request-context";
import type { RequestContexts } from "../../http/elysia";
import { ListOf, PageQuery, readPageRequest, toPage } from "../../http/pagination";
import { noBody } from "../../http/json-body";
import { operation, scope } from "../../http/operation";
import { sendList, sendUntagged } from "../../http/answers";
import { NEWEST } from "../../base/ids";
import { getDelivery, listDeliveries, redeliver, sendTestEvent } from "./deliveries";
import { Delivery, DeliveryStatusText, presentDelivery } from "./delivery-model";
import { getWebhookByReference } from "./records";

const ListQuery = Type.Object(
  { status: Type.Optional(DeliveryStatusText), ...PageQuery },
  { additionalProperties: false },
);

const DECLARED = { tag: "Webhooks", access: scope("manage:webhooks") };
const QUEUED = { 200: { description: "The delivery, which was queued.", schema: Delivery } };

/** `/api/v1/webhooks/{id}/…`: deliveries, redelivery and test events. */
export function deliveryRoutes(ctx: Ctx, requestContexts: RequestContexts) {
  return new Elysia()
    .use(requestContexts.plugin)
    .post(
      "/webhooks/:id/test",
      async ({ params, requestContext }) => {
        const delivery = await ctx.db.write((tx) => {
          const { id } = getWebhookByReference(tx, params.id);
          return presentDelivery(sendTestEvent(ctx, tx, id, actorOf(requestContext)));
        });
        return sendUntagged(delivery);
      },
      {
        ...noBody(),
        ...operation({
          ...DECLARED,
          id: "testWebhook",
          summary: "Send a test event",
          description:
            "Sends the event webhook.test to this webhook only, whatever events it subscribes to, in a single attempt. The delivery shows the result a moment later.",
          answers: QUEUED,
          errors: ["not_found", "conflict"],
        }),
      },
    )
    .get(
      "/webhooks/:id/deliveries",
      ({ params, query, request, requestContext }) => {
        const { limit, after: before = NEWEST } = readPageRequest(query, "string");
        const { status = null } = query;
        const { id: webhookId } = getWebhookByReference(ctx.db, params.id);
        const records = listDeliveries(ctx.db, { webhookId, status, before, limit: limit + 1 });
        const page = toPage(records, limit, ({ row }) => row.id, presentDelivery);
        const filter = status === null ? "" : `&status=${status}`;
        const self = `${ctx.baseUrl}/api/v1/webhooks/${webhookId}/deliveries?limit=${limit}${filter}`;
        return sendList(request, requestContext, page, self);
      },
      {
        query: ListQuery,
        ...operation({
          ...DECLARED,
          id: "listWebhookDeliveries",
          summary: "List a webhook's deliveries",
          description:
            "Newest first. Deliveries are kept for 30 days unless the server is configured otherwise.",
          answers: { 200: { description: "A page of the list.", schema: ListOf(Delivery) } },
          errors: ["not_found"],
          conditional: "etag",
        }),
      },
    )
    .get(
      "/webhooks/:id/deliveries/:delivery_id",
      ({ params }) => {
        const { id } = getWebhookByReference(ctx.db, params.id);
        return sendUntagged(presentDelivery(getDelivery(ctx.db, id, params.delivery_id)));
      },
      operation({
        ...DECLARED,
        id: "getWebhookDelivery",
        summary: "Read a delivery",
        answers: { 200: { description: "The delivery.", schema: Delivery } },
        errors: ["not_found"],
      }),
    )
    .post(
      "/webhooks/:id/deliveries/:delivery_id/redeliver",
      async ({ params, requestContext }) => {
        const delivery = await ctx.db.write((tx) => {
          const { id } = getWebhookByReference(tx, params.id);
          return presentDelivery(
            redeliver(ctx, tx, id, params.delivery_id, actorOf(requestContext)),
          );
        });
        return sendUntagged(delivery);
      },
      {
        ...noBody(),
        ...operation({
          ...DECLARED,
          id: "redeliverWebhookDelivery",
          summary: "Redeliver a delivery",
          description:
            "Due at once, whatever its status, with the retry delays of a new delivery. The event keeps its id, so receivers can discard duplicates.",
          answers: QUEUED,
          errors: ["not_found", "conflict"],
        }),
      },
    );
}
