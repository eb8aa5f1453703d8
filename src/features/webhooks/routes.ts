import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Ctx } from "../../context";
import { actorOf } from "../../http/request-context";
import type { RequestContexts } from "../../http/elysia";
import { createChanges } from "../../http/change";
import { createOnce } from "../../http/create-once";
import { jsonBody, noBody } from "../../http/json-body";
import { ListOf, PageQuery, readPageRequest, toPage } from "../../http/pagination";
import { operation, scope } from "../../http/operation";
import { sendList, sendResource } from "../../http/answers";
import { NEWEST } from "../../base/ids";
import { CreateWebhookBody, UpdateWebhookBody } from "./bodies";
import { createWebhookErrors, updateWebhookErrors } from "./body-errors";
import { createWebhook } from "./create";
import { deleteWebhook, updateWebhook, rotateSecret } from "./update";
import { deliveryRoutes } from "./delivery-routes";
import { presentWebhook, RevealedWebhook, revealWebhook, Webhook } from "./model";
import { getWebhookByReference, getWebhookRecord, listWebhooks } from "./records";

const PATH = "/api/v1/webhooks";
const DECLARED = { tag: "Webhooks", access: scope("manage:webhooks") };

/** `/api/v1/webhooks`: endpoints and their signing secrets. */
export function webhookRoutes(ctx: Ctx, requestContexts: RequestContexts) {
  const { change, remove } = createChanges(ctx, getWebhookByReference);
  return new Elysia({ prefix: "/api/v1" })
    .use(requestContexts.plugin)
    .use(deliveryRoutes(ctx, requestContexts))
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
        ...jsonBody(CreateWebhookBody, (valid, { isInvalid }) =>
          createWebhookErrors(ctx, ctx.db, valid, isInvalid),
        ),
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
        ...jsonBody(UpdateWebhookBody, (valid, { id }) =>
          updateWebhookErrors(ctx, ctx.db, id, valid),
        ),
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
