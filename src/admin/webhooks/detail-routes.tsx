import { Elysia } from "elysia";
import { sendTestEvent, updateWebhook, webhookName } from "../../features/webhooks";
import { makeOnce } from "../../features/submissions";
import { actorOf, formBody, session, sessionOf } from "../../http";
import { createDone } from "../done";
import { newFormToken } from "../form-token";
import type { AdminDependencies } from "../dependencies";
import { screenOperation } from "../screen-operation";
import { WebhookDetail } from "./detail";
import { pathsOfWebhook } from "./webhook-paths";
import { readWebhookView } from "./read";

/** Routes of one endpoint and its buttons without confirmation. */
export function webhookDetailRoutes(deps: AdminDependencies) {
  const { ctx, requestContexts, render, writeAs } = deps;
  const done = createDone(deps.flashes);
  const MAY_MANAGE = session("admin");

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      "/:id",
      async ({ request, requestContext, params, query }) => {
        const { now } = requestContext;
        const view = readWebhookView(ctx.db, params.id, query, now);
        const page = { view, formToken: newFormToken(ctx), now };
        return render.screen(
          { request, requestContext },
          { title: webhookName(view.record.row), children: <WebhookDetail {...page} /> },
        );
      },
      screenOperation("One webhook", MAY_MANAGE),
    )
    .post(
      "/:id/test",
      async ({ requestContext, params: { id }, body: form }) => {
        const sent = { sessionId: sessionOf(requestContext).id, digest: form.digest };
        const { subjectId } = await writeAs(requestContext, (tx) =>
          makeOnce(ctx, tx, sent, () => {
            const { row } = sendTestEvent(ctx, tx, id, actorOf(requestContext));
            return { made: row, subjectId: row.id };
          }),
        );
        const path = pathsOfWebhook(id).delivery(subjectId);
        return done(requestContext, path, "The test is on its way.");
      },
      { ...formBody(), ...screenOperation("Try a webhook out", MAY_MANAGE) },
    )
    .post(
      "/:id/enable",
      async ({ requestContext, params: { id } }) => {
        await writeAs(requestContext, (tx) =>
          updateWebhook(ctx, tx, id, { enabled: true }, actorOf(requestContext)),
        );
        const text = "The webhook is enabled. Redeliver to send what was cancelled meanwhile.";
        return done(requestContext, pathsOfWebhook(id).home, text);
      },
      { ...formBody(), ...screenOperation("Enable a webhook", MAY_MANAGE) },
    );
}
