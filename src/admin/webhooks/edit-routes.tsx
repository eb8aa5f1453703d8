import { Elysia } from "elysia";
import { getWebhookRecord, updateWebhook, webhookName } from "../../features/webhooks";
import { actorOf, formBody, session } from "../../http";
import { createDone } from "../done";
import { NO_COMPLAINTS } from "../field-errors";
import type { AdminDependencies } from "../dependencies";
import { readPages } from "../read-pages";
import type { ScreenRequest } from "../render";
import { screenOperation } from "../screen-operation";
import { type FormRejection, rejectionOrThrow, requireSameVersion } from "../stale";
import { EditForm } from "./edit-form";
import {
  readWebhook,
  storedWebhook,
  toChange,
  webhookComplaintsOrThrow,
  type WebhookValues,
} from "./values";
import { pathsOfWebhook } from "./webhook-paths";

/** Routes that edit an endpoint. */
export function webhookEditRoutes(deps: AdminDependencies) {
  const { ctx, requestContexts, render, writeAs } = deps;
  const done = createDone(deps.flashes);
  const MAY_MANAGE = session("admin");

  function showForm(
    at: ScreenRequest,
    id: string,
    typed?: { values: WebhookValues; refused?: FormRejection },
  ) {
    const record = getWebhookRecord(ctx.db, id, ctx.clock.now());
    const form = {
      row: record.row,
      values: typed?.values ?? storedWebhook(record),
      complaints: typed?.refused?.complaints ?? NO_COMPLAINTS,
      stale: typed?.refused?.stale,
      pages: readPages(ctx.db),
    };
    return render.screen(at, {
      title: `Edit “${webhookName(record.row)}”`,
      status: typed?.refused?.status ?? 200,
      // What was typed may be a URL that is a secret.
      isSecret: true,
      children: <EditForm {...form} />,
    });
  }

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      "/:id/edit",
      async ({ request, requestContext, params }) =>
        showForm({ request, requestContext }, params.id),
      screenOperation("The form that changes a webhook", MAY_MANAGE),
    )
    .post(
      "/:id/edit",
      async ({ request, requestContext, params: { id }, body: form }) => {
        const at = { request, requestContext };
        const { values, asksForFormat } = readWebhook(form);
        if (asksForFormat) return showForm(at, id, { values });
        let isChanged: boolean;
        try {
          isChanged = await writeAs(requestContext, (tx) => {
            const before = getWebhookRecord(tx, id, ctx.clock.now());
            requireSameVersion(form, before.row);
            const change = toChange(values, before);
            const after = updateWebhook(ctx, tx, id, change, actorOf(requestContext));
            return after.row.version !== before.row.version;
          });
        } catch (error) {
          return showForm(at, id, { values, refused: editRejectionOrThrow(error) });
        }
        const text = isChanged ? "The webhook was changed." : undefined;
        return done(requestContext, pathsOfWebhook(id).home, text);
      },
      { ...formBody(), ...screenOperation("Change a webhook", MAY_MANAGE) },
    );
}

function editRejectionOrThrow(error: unknown): FormRejection {
  const rejection = rejectionOrThrow(error);
  return rejection.stale === undefined
    ? { ...rejection, complaints: webhookComplaintsOrThrow(error) }
    : rejection;
}
