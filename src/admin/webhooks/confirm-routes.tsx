import { Elysia } from "elysia";
import type { ComponentChildren } from "preact";
import {
  deleteWebhook,
  getWebhookRecord,
  rotateSecret,
  updateWebhook,
  webhookName,
  type WebhookRow,
} from "../../features/webhooks";
import { actorOf, formBody, seeOther, session } from "../../http";
import { createDeleteOnce, deletedSentence } from "../delete-once";
import { createDone } from "../done";
import { newFormToken } from "../form-token";
import type { AdminDependencies } from "../dependencies";
import { WEBHOOKS_PATH } from "../paths";
import type { ScreenRequest } from "../render";
import type { Reveal } from "../reveals";
import { screenOperation } from "../screen-operation";
import { DeleteWebhook, DisableWebhook, RotateSecret } from "./confirm";
import { pathsOfWebhook } from "./webhook-paths";

/** Shows a new secret under a title. */
type ShowSecret = (
  at: ScreenRequest,
  reveal: Reveal<WebhookRow>,
  title: string,
) => Promise<Response>;

/**
 * Routes that rotate the secret of an endpoint, disable or delete it, each after a confirmation.
 */
export function webhookConfirmRoutes(deps: AdminDependencies, showSecret: ShowSecret) {
  const { ctx, requestContexts, render, reveals, writeAs } = deps;
  const done = createDone(deps.flashes);
  const deleteOnce = createDeleteOnce(deps);
  const MAY_MANAGE = session("admin");

  function rowOf(id: string): WebhookRow {
    return getWebhookRecord(ctx.db, id, ctx.clock.now()).row;
  }

  function ask(at: ScreenRequest, verb: string, row: WebhookRow, children: ComponentChildren) {
    return render.screen(at, { title: `${verb} “${webhookName(row)}”`, children });
  }

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      "/:id/rotate",
      async ({ request, requestContext, params }) => {
        const row = rowOf(params.id);
        const question = <RotateSecret row={row} formToken={newFormToken(ctx)} />;
        return ask({ request, requestContext }, "Rotate the secret of", row, question);
      },
      screenOperation("Asks before a webhook's secret is rotated", MAY_MANAGE),
    )
    .post(
      "/:id/rotate",
      async ({ request, requestContext, params, body: form }) => {
        const reveal = await reveals.reveal(requestContext, form, (tx) => {
          const { row } = rotateSecret(ctx, tx, params.id, actorOf(requestContext));
          return { made: row, subjectId: row.id };
        });
        return showSecret({ request, requestContext }, reveal, "Copy the new secret now");
      },
      { ...formBody(), ...screenOperation("Rotate a webhook's secret", MAY_MANAGE) },
    )
    .get(
      "/:id/disable",
      async ({ request, requestContext, params }) => {
        const row = rowOf(params.id);
        if (!row.enabled) return seeOther(pathsOfWebhook(row.id).home);
        return ask({ request, requestContext }, "Disable", row, <DisableWebhook row={row} />);
      },
      screenOperation("Asks before a webhook is disabled", MAY_MANAGE),
    )
    .post(
      "/:id/disable",
      async ({ requestContext, params: { id } }) => {
        await writeAs(requestContext, (tx) =>
          updateWebhook(ctx, tx, id, { enabled: false }, actorOf(requestContext)),
        );
        return done(requestContext, pathsOfWebhook(id).home, "The webhook is disabled.");
      },
      { ...formBody(), ...screenOperation("Disable a webhook", MAY_MANAGE) },
    )
    .get(
      "/:id/delete",
      async ({ request, requestContext, params }) => {
        const row = rowOf(params.id);
        return ask({ request, requestContext }, "Delete", row, <DeleteWebhook row={row} />);
      },
      screenOperation("Asks before a webhook is deleted", MAY_MANAGE),
    )
    .post(
      "/:id/delete",
      async ({ requestContext, params: { id }, body: form }) => {
        const deletion = { path: WEBHOOKS_PATH, sentence: deletedSentence("webhook") };
        return deleteOnce(requestContext, form, deletion, (tx) => {
          const { row } = getWebhookRecord(tx, id, ctx.clock.now());
          deleteWebhook(ctx, tx, id, actorOf(requestContext));
          return { made: webhookName(row), subjectId: id };
        });
      },
      { ...formBody(), ...screenOperation("Delete a webhook", MAY_MANAGE) },
    );
}
