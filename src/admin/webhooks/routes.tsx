import { Elysia } from "elysia";
import { createWebhook, type WebhookRow } from "../../features/webhooks";
import { actorOf, formBody, session } from "../../http";
import { NO_COMPLAINTS, statusOf } from "../field-errors";
import { newFormToken } from "../form-token";
import type { AdminDependencies } from "../dependencies";
import { WEBHOOKS_PATH } from "../paths";
import { readPages } from "../read-pages";
import type { ScreenRequest } from "../render";
import type { Reveal } from "../reveals";
import { screenOperation } from "../screen-operation";
import { webhookConfirmRoutes } from "./confirm-routes";
import { CreateForm } from "./create-form";
import { webhookDeliveryRoutes } from "./delivery-routes";
import { webhookDetailRoutes } from "./detail-routes";
import { webhookEditRoutes } from "./edit-routes";
import { WebhookList } from "./list";
import { readWebhookList } from "./read";
import { RevealedSecret, SecretShownBefore } from "./reveal";
import {
  emptyWebhook,
  readWebhook,
  toNewWebhook,
  webhookComplaintsOrThrow,
  type WebhookValues,
} from "./values";

/** Settings → Webhooks: for admins and owners. */
export function webhookAdminRoutes(deps: AdminDependencies) {
  const { ctx, requestContexts, render, reveals } = deps;
  const MAY_MANAGE = session("admin");

  function showForm(at: ScreenRequest, values: WebhookValues, complaints = NO_COMPLAINTS) {
    const form = { values, complaints, pages: readPages(ctx.db), formToken: newFormToken(ctx) };
    return render.screen(at, {
      title: "Create webhook",
      status: statusOf(complaints),
      // What was typed may be a URL that is a secret.
      isSecret: true,
      children: <CreateForm {...form} />,
    });
  }

  /** Shows a new secret under `title`, or says that it was already shown. */
  function showSecret(at: ScreenRequest, reveal: Reveal<WebhookRow>, title: string) {
    if ("shownBefore" in reveal) {
      const page = { title: "This secret was already shown", id: reveal.shownBefore };
      return render.screen(at, { title: page.title, children: <SecretShownBefore {...page} /> });
    }
    const row = reveal.revealed;
    const page = { title, row, formToken: newFormToken(ctx), now: ctx.clock.now() };
    return render.screen(at, { title, isSecret: true, children: <RevealedSecret {...page} /> });
  }

  return new Elysia({ prefix: WEBHOOKS_PATH })
    .use(requestContexts.plugin)
    .use(webhookDetailRoutes(deps))
    .use(webhookEditRoutes(deps))
    .use(webhookConfirmRoutes(deps, showSecret))
    .use(webhookDeliveryRoutes(deps))
    .get(
      "",
      async ({ request, requestContext, query }) => {
        const { now } = requestContext;
        const list = readWebhookList(ctx.db, query["before"] || undefined, now);
        return render.screen(
          { request, requestContext },
          { title: "Webhooks", children: <WebhookList list={list} now={now} /> },
        );
      },
      screenOperation("The list of webhooks", MAY_MANAGE),
    )
    .get(
      "/new",
      async ({ request, requestContext, query }) =>
        showForm({ request, requestContext }, emptyWebhook(query["format"])),
      screenOperation("The form for a new webhook", MAY_MANAGE),
    )
    .post(
      "/new",
      async ({ request, requestContext, body: form }) => {
        const at = { request, requestContext };
        const { values, asksForFormat } = readWebhook(form);
        if (asksForFormat) return showForm(at, values);
        try {
          const reveal = await reveals.reveal(requestContext, form, (tx) => {
            const { row } = createWebhook(ctx, tx, toNewWebhook(values), actorOf(requestContext));
            return { made: row, subjectId: row.id };
          });
          return await showSecret(at, reveal, "Copy the secret now");
        } catch (error) {
          return showForm(at, values, webhookComplaintsOrThrow(error));
        }
      },
      { ...formBody(), ...screenOperation("Create a webhook", MAY_MANAGE) },
    );
}
