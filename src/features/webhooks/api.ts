import { Type } from "@sinclair/typebox";
import { NEWEST } from "../../base/ids";
import type { Ctx } from "../../context";
import { sendList, sendResource, sendUntagged } from "../../http/answers";
import { createChanges, createOnce } from "../../http/changes";
import { declareRoutes } from "../../http/elysia";
import { jsonBody, noBody } from "../../http/json-body";
import { operation, scope } from "../../http/operation";
import { ListOf, PageQuery, readPageRequest, toPage } from "../../http/pagination";
import { actorOf } from "../../http/request-context";
import { getDelivery, listDeliveries, redeliver, sendTestEvent } from "./deliveries";
import { getWebhookByReference, getWebhookRecord, listWebhooks, resolveWebhookId } from "./records";
import { findWebhook } from "./store";
import {
  createWebhook,
  deleteWebhook,
  readNewWebhook,
  readWebhookChange,
  rotateSecret,
  updateWebhook,
} from "./webhooks";
import {
  CreateWebhookBody,
  Delivery,
  DeliveryStatusText,
  presentDelivery,
  presentWebhook,
  RevealedWebhook,
  revealWebhook,
  UpdateWebhookBody,
  Webhook,
} from "./wire";

const PATH = "/api/v1/webhooks";
const DECLARED = { tag: "Webhooks", access: scope("manage:webhooks") };

/** `/api/v1/webhooks`: endpoints and their signing secrets. */
export function webhookRoutes(ctx: Ctx) {
  const { change, remove } = createChanges(ctx, getWebhookByReference);
  return declareRoutes("/api/v1")
    .use(deliveryRoutes(ctx))
    .get(
      "/webhooks",
      ({ query, request, requestContext }) => {
        const { limit, after: before = NEWEST } = readPageRequest(query, "string");
        const records = listWebhooks(ctx.db, { before, limit: limit + 1 }, ctx.clock.now());
        const page = toPage(records, limit, ({ row }) => row.id, presentWebhook);
        return sendList(request, requestContext, page, `${ctx.baseUrl}${PATH}?limit=${limit}`);
      },
      {
        query: Type.Object(PageQuery, { additionalProperties: false }),
        ...operation({
          ...DECLARED,
          id: "listWebhooks",
          summary: "List webhooks",
          description: "Newest first.",
          answers: { 200: { description: "A page of the list.", schema: ListOf(Webhook) } },
          conditional: "etag",
        }),
      },
    )
    .post(
      "/webhooks",
      ({ body, request, requestContext }) =>
        createOnce(ctx, { request, requestContext, tag: "version" }, (tx) => {
          const resource = revealWebhook(createWebhook(ctx, tx, body, actorOf(requestContext)));
          const location = `${PATH}/${resource.id}`;
          return { resource, location, replay: { ...resource, secret: null } };
        }),
      {
        ...jsonBody(CreateWebhookBody, (valid, { errors, isInvalid }) => {
          readNewWebhook(ctx, ctx.db, valid, errors, isInvalid);
        }),
        ...operation({
          ...DECLARED,
          id: "createWebhook",
          summary: "Create a webhook",
          description:
            "It receives events from now on. Requests are signed by Standard Webhooks 1.0. Only this answer and that of a rotation show its `secret`.",
          answers: { 201: { description: "The webhook.", schema: RevealedWebhook } },
          idempotent: true,
        }),
      },
    )
    .get(
      "/webhooks/:id",
      ({ params, request }) => {
        const { id } = getWebhookByReference(ctx.db, params.id);
        const record = getWebhookRecord(ctx.db, id, ctx.clock.now());
        return sendResource(request, presentWebhook(record));
      },
      operation({
        ...DECLARED,
        id: "getWebhook",
        summary: "Read a webhook",
        description:
          "Its ETag also changes with its success rate. If-Match compares only the version, which deliveries do not raise.",
        answers: { 200: { description: "The webhook.", schema: Webhook } },
        errors: ["not_found"],
        conditional: "etag",
      }),
    )
    .patch(
      "/webhooks/:id",
      ({ params, body, request, requestContext }) =>
        change({ params, request, requestContext }, (tx, { id }, actor) =>
          presentWebhook(updateWebhook(ctx, tx, id, body, actor)),
        ),
      {
        ...jsonBody(UpdateWebhookBody, (valid, { id, errors, isInvalid }) => {
          const row = findWebhook(ctx.db, { id: resolveWebhookId(ctx.db, id) });
          if (row) readWebhookChange(ctx, ctx.db, row, valid, errors, isInvalid);
        }),
        ...operation({
          ...DECLARED,
          id: "updateWebhook",
          summary: "Change a webhook",
          description:
            "Omitted fields keep their values, also inside `settings`. A disabled webhook receives no events: pending deliveries are cancelled and can be redelivered. Another URL, chat or topic needs its tokens again, and another format needs a secret URL again.",
          answers: { 200: { description: "The webhook as it is now.", schema: Webhook } },
          errors: ["not_found"],
          conditional: "if-match",
        }),
      },
    )
    .delete(
      "/webhooks/:id",
      ({ params, request, requestContext }) =>
        remove({ params, request, requestContext }, (tx, { id }, actor) =>
          deleteWebhook(ctx, tx, id, actor),
        ),
      operation({
        ...DECLARED,
        id: "deleteWebhook",
        summary: "Delete a webhook",
        description: "No more events are sent to it.",
        answers: { 204: { description: "The webhook was deleted." } },
        errors: ["not_found"],
        conditional: "if-match",
      }),
    )
    .post(
      "/webhooks/:id/rotate-secret",
      ({ params, request, requestContext }) =>
        change({ params, request, requestContext, tag: "version" }, (tx, { id }, actor) =>
          revealWebhook(rotateSecret(ctx, tx, id, actor)),
        ),
      {
        ...noBody(),
        ...operation({
          ...DECLARED,
          id: "rotateWebhookSecret",
          summary: "Rotate a webhook's secret",
          description:
            "Only this answer shows the new secret. For 24 hours, requests are also signed with the previous secret, so that receivers can be updated; a second rotation in that time ends it.",
          answers: { 200: { description: "The webhook.", schema: RevealedWebhook } },
          errors: ["not_found", "conflict"],
          conditional: "if-match",
        }),
      },
    );
}

const ListQuery = Type.Object(
  { status: Type.Optional(DeliveryStatusText), ...PageQuery },
  { additionalProperties: false },
);
const QUEUED = { 200: { description: "The delivery, which was queued.", schema: Delivery } };

/** `/api/v1/webhooks/{id}/…`: deliveries, redelivery and test events. */
function deliveryRoutes(ctx: Ctx) {
  return declareRoutes()
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
