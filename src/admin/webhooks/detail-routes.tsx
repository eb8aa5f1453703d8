import { Elysia } from "elysia";
import { sendTestEvent, updateWebhook, webhookName } from "../../features/webhooks";
import { makeOnce } from "../../features/submissions";
import { actorOf, formBody, session, sessionOf } from "../../http";
import { createDone } from "../done";
import { newFormToken } from "../form-token";
import type { AdminParts } from "../parts";
import { screenOperation } from "../screen-operation";
import { WebhookDetail } from "./detail";
import { pathsOfWebhook } from "./webhook-paths";
import { readWebhookView } from "./webhook-view";

/** One endpoint, and what one click does to it. */
export function webhookDetailRoutes(parts: AdminParts) {
  const { ctx, admissions, render, writeAs } = parts;
  const done = createDone(parts.flashes);
  const MAY_MANAGE = session("admin");

  return new Elysia()
    .use(admissions.plugin)
    .get(
      "/:id",
      async ({ request, admission, params, query }) => {
        const { now } = admission;
        const view = readWebhookView(ctx.db, params.id, query, now);
        const page = { view, formToken: newFormToken(ctx), now };
        return render.screen(
          { request, admission },
          { title: webhookName(view.record.row), children: <WebhookDetail {...page} /> },
        );
      },
      screenOperation("One webhook", MAY_MANAGE),
    )
    .post(
      "/:id/test",
      async ({ admission, params: { id }, body: form }) => {
        const sent = { sessionId: sessionOf(admission).id, digest: form.digest };
        const { subjectId } = await writeAs(admission, (tx) =>
          makeOnce(ctx, tx, sent, () => {
            const { row } = sendTestEvent(ctx, tx, id, actorOf(admission));
            return { made: row, subjectId: row.id };
          }),
        );
        const path = pathsOfWebhook(id).delivery(subjectId);
        return done(admission, path, "The test is on its way.");
      },
      { ...formBody(), ...screenOperation("Try a webhook out", MAY_MANAGE) },
    )
    .post(
      "/:id/enable",
      async ({ admission, params: { id } }) => {
        await writeAs(admission, (tx) =>
          updateWebhook(ctx, tx, id, { enabled: true }, actorOf(admission)),
        );
        const text =
          "The webhook is enabled. What was cancelled meanwhile is sent if you redeliver it.";
        return done(admission, pathsOfWebhook(id).home, text);
      },
      { ...formBody(), ...screenOperation("Enable a webhook", MAY_MANAGE) },
    );
}
