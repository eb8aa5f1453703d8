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
import type { AdminParts } from "../parts";
import { WEBHOOKS_PATH } from "../paths";
import type { ScreenRequest } from "../render";
import type { Reveal } from "../reveals";
import { screenOperation } from "../screen-operation";
import { DeleteWebhook, DisableWebhook, RotateSecret } from "./confirm";
import { pathsOfWebhook } from "./webhook-paths";

/** Shows a secret that was just made, under a title. */
type ShowSecret = (
  at: ScreenRequest,
  reveal: Reveal<WebhookRow>,
  title: string,
) => Promise<Response>;

/** What is asked before it is done: another secret, disabling, deleting. */
export function webhookConfirmRoutes(parts: AdminParts, showSecret: ShowSecret) {
  const { ctx, admissions, render, reveals, writeAs } = parts;
  const done = createDone(parts.flashes);
  const deleteOnce = createDeleteOnce(parts);
  const MAY_MANAGE = session("admin");

  function rowOf(id: string): WebhookRow {
    return getWebhookRecord(ctx.db, id, ctx.clock.now()).row;
  }

  function ask(at: ScreenRequest, verb: string, row: WebhookRow, children: ComponentChildren) {
    return render.screen(at, { title: `${verb} “${webhookName(row)}”`, children });
  }

  return new Elysia()
    .use(admissions.plugin)
    .get(
      "/:id/rotate",
      async ({ request, admission, params }) => {
        const row = rowOf(params.id);
        const question = <RotateSecret row={row} formToken={newFormToken(ctx)} />;
        return ask({ request, admission }, "Rotate the secret of", row, question);
      },
      screenOperation("Asks before a webhook's secret is rotated", MAY_MANAGE),
    )
    .post(
      "/:id/rotate",
      async ({ request, admission, params, body: form }) => {
        const reveal = await reveals.reveal(admission, form, (tx) => {
          const { row } = rotateSecret(ctx, tx, params.id, actorOf(admission));
          return { made: row, subjectId: row.id };
        });
        return showSecret({ request, admission }, reveal, "Copy the new secret now");
      },
      { ...formBody(), ...screenOperation("Rotate a webhook's secret", MAY_MANAGE) },
    )
    .get(
      "/:id/disable",
      async ({ request, admission, params }) => {
        const row = rowOf(params.id);
        if (!row.enabled) return seeOther(pathsOfWebhook(row.id).home);
        return ask({ request, admission }, "Disable", row, <DisableWebhook row={row} />);
      },
      screenOperation("Asks before a webhook is disabled", MAY_MANAGE),
    )
    .post(
      "/:id/disable",
      async ({ admission, params: { id } }) => {
        await writeAs(admission, (tx) =>
          updateWebhook(ctx, tx, id, { enabled: false }, actorOf(admission)),
        );
        return done(admission, pathsOfWebhook(id).home, "The webhook is disabled.");
      },
      { ...formBody(), ...screenOperation("Disable a webhook", MAY_MANAGE) },
    )
    .get(
      "/:id/delete",
      async ({ request, admission, params }) => {
        const row = rowOf(params.id);
        return ask({ request, admission }, "Delete", row, <DeleteWebhook row={row} />);
      },
      screenOperation("Asks before a webhook is deleted", MAY_MANAGE),
    )
    .post(
      "/:id/delete",
      async ({ admission, params: { id }, body: form }) => {
        const deletion = { path: WEBHOOKS_PATH, sentence: deletedSentence("webhook") };
        return deleteOnce(admission, form, deletion, (tx) => {
          const { row } = getWebhookRecord(tx, id, ctx.clock.now());
          deleteWebhook(ctx, tx, id, actorOf(admission));
          return { made: webhookName(row), subjectId: id };
        });
      },
      { ...formBody(), ...screenOperation("Delete a webhook", MAY_MANAGE) },
    );
}
