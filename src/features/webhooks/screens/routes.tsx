import { composed, validate } from "../../../base/validation";
import type { Reader } from "../../../db/statements";
import { sessionOf } from "../../../http/request-context";
import { newFormToken, type Reveal } from "../../../ui/frame/changes";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { webhookPath, WEBHOOKS_PATH } from "../../../ui/frame/paths";
import type { Screen } from "../../../ui/frame/render";
import { createArea } from "../../../ui/screens/area";
import { ManagedByFile, shownBefore } from "../../../ui/screens/form-screen";
import { makeOnce } from "../../submissions/store";
import { findQuestion } from "../alerts/confirmation";
import { sendTestEvent } from "../deliveries";
import { getWebhookRecord, webhookName } from "../records";
import type { WebhookRow } from "../store";
import { createWebhook, deleteWebhook, rotateSecret, updateWebhook } from "../webhooks";
import { CreateWebhookBody, presentWebhook, UpdateWebhookBody } from "../wire";
import { addDeliveryRoutes } from "./delivery";
import {
  addConfirmationRoutes,
  awaitFirstTry,
  madeWithoutSecret,
  RevealedSecret,
  TEST_RESULTS,
  WebhookDetail,
} from "./detail";
import { CONFIRM_FORM, formatNamed, readFormContext, shownFormat, WEBHOOK_FORM } from "./forms";
import { WebhookList } from "./list";
import { readWebhookList, readWebhookView } from "./read";

const WEBHOOKS_CRUMB = { href: WEBHOOKS_PATH, label: "Webhooks" };

/** Settings → Webhooks: for admins and owners. */
export function webhookAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, WEBHOOKS_PATH, "admin");

  function rowOf(reader: Reader, id: string): WebhookRow {
    return getWebhookRecord(reader, id, ctx.clock.now()).row;
  }

  /** Shows a new secret under `title`, or says that it was already shown. */
  function showSecret(reveal: Reveal<WebhookRow>, title: string): Screen {
    if ("shownBefore" in reveal) {
      return shownBefore({
        secret: "secret",
        ifLost: "rotate it to get a new one",
        object: { href: webhookPath(reveal.shownBefore), label: "Open webhook" },
        list: WEBHOOKS_CRUMB,
      });
    }
    const row = reveal.revealed;
    const page = { row, formToken: newFormToken(ctx), now: ctx.clock.now() };
    if (row.format === "email") {
      return madeWithoutSecret({ ...page, question: findQuestion(ctx.db, row) });
    }
    return { title, isSecret: true, children: <RevealedSecret title={title} {...page} /> };
  }

  area.screen("", ({ query, requestContext: { now } }) => {
    const list = readWebhookList(ctx.db, query["before"] || undefined, now);
    return { title: "Webhooks", children: <WebhookList list={list} now={now} /> };
  });

  area.secretForm("/new", {
    form: WEBHOOK_FORM,
    load: (reader, { query, sent }) =>
      readFormContext(
        reader,
        sent ? shownFormat(sent, "standard") : (formatNamed(query["format"]) ?? "standard"),
        { sent },
      ),
    initial: (_, { format }) => ({ format }),
    show: () => ({
      title: "Create webhook",
      // The typed URL may be a secret.
      isSecret: true,
      crumbs: [WEBHOOKS_CRUMB],
      button: "Create webhook",
    }),
    create(tx, body, actor) {
      const { row } = createWebhook(ctx, tx, validate(CreateWebhookBody, body), actor);
      return { made: row, subjectId: row.id };
    },
    reveal: (reveal) => showSecret(reveal, "Your new secret"),
  });

  area.screen("/:id", ({ params, query, requestContext: { now } }) => {
    const view = readWebhookView(ctx.db, params.id, query, now);
    const page = { view, formToken: newFormToken(ctx), now };
    return { title: webhookName(view.record.row), children: <WebhookDetail {...page} /> };
  });

  area.editForm("/:id/edit", {
    form: WEBHOOK_FORM,
    load(reader, { params, sent }) {
      const record = getWebhookRecord(reader, params.id, ctx.clock.now());
      const { row } = record;
      const webhook = presentWebhook(record);
      const format = sent ? shownFormat(sent, row.format) : row.format;
      // Another format starts without settings.
      const settings = format === row.format ? webhook.settings : {};
      return {
        resource: { ...webhook, settings, page: row.pageId },
        version: row.version,
        context: { ...readFormContext(reader, format, { row, sent }), row },
      };
    },
    show({ context: { row } }) {
      const name = webhookName(row);
      return {
        title: `Edit “${name}”`,
        heading: "Edit webhook",
        // The typed URL may be a secret.
        isSecret: true,
        crumbs: [WEBHOOKS_CRUMB, { href: webhookPath(row.id), label: name }],
        above: row.managedBy === "apply" ? <ManagedByFile what="webhook" /> : null,
        button: "Save changes",
      };
    },
    update(tx, changes, actor, { params }, { row }) {
      const body = validate(UpdateWebhookBody, changes);
      const after = updateWebhook(ctx, tx, params.id, body, actor);
      return after.row.version !== row.version;
    },
    done: ({ params }) => ({
      path: webhookPath(params.id),
      text: "The webhook was changed.",
    }),
  });

  area.action("/:id/test", {
    run(tx, { params, requestContext, sent }, actor) {
      const form = { sessionId: sessionOf(requestContext).id, digest: sent.digest };
      return makeOnce(ctx, tx, form, () => {
        const { row } = sendTestEvent(ctx, tx, params.id, actor);
        return { made: row, subjectId: row.id };
      });
    },
    async done({ subjectId }, { params }) {
      const { row } = await awaitFirstTry(ctx, params.id, subjectId);
      return {
        path: webhookPath(params.id, "deliveries", subjectId),
        text: TEST_RESULTS[row.status],
      };
    },
  });

  area.secretForm("/:id/rotate", {
    form: CONFIRM_FORM,
    load: (reader, { params }) => rowOf(reader, params.id),
    show: ({ context: row }) => ({
      title: `Rotate the secret of “${webhookName(row)}”`,
      button: "Rotate secret",
      dialog: (
        <>
          <p>
            The webhook gets a new secret, which is shown once. For 24 hours, requests are signed
            with the new and the current secret, so that you can update the receiver in time.
          </p>
          {row.previousSecret === null ? null : (
            <p>The previous secret, from an earlier rotation, stops signing requests at once.</p>
          )}
        </>
      ),
    }),
    create(tx, _, actor, { params }) {
      const { row } = rotateSecret(ctx, tx, params.id, actor);
      return { made: row, subjectId: row.id };
    },
    reveal: (reveal) => showSecret(reveal, "Your new secret"),
  });

  area.confirmation("/:id/disable", {
    show({ params }) {
      const row = rowOf(ctx.db, params.id);
      if (!row.enabled) return { path: webhookPath(row.id) };
      return {
        title: `Disable “${webhookName(row)}”`,
        button: "Disable webhook",
        isDanger: true,
        dialog: (
          <p>
            No events are sent until you enable the webhook again. Pending deliveries are cancelled.
            You can redeliver them later.
          </p>
        ),
      };
    },
    run: (tx, { params }, actor) =>
      updateWebhook(ctx, tx, params.id, composed({ enabled: false }), actor),
    done: (_, { params }) => ({
      path: webhookPath(params.id),
      text: "The webhook was disabled.",
    }),
  });

  area.action("/:id/enable", {
    run: (tx, { params }, actor) =>
      updateWebhook(ctx, tx, params.id, composed({ enabled: true }), actor),
    done: (_, { params }) => ({
      path: webhookPath(params.id),
      text: "The webhook was enabled. To send cancelled deliveries, redeliver them.",
    }),
  });

  area.deletion({
    noun: "webhook",
    find: rowOf,
    nameOf: webhookName,
    consequences: () => (
      <p>
        No more events are sent, pending deliveries are cancelled, and the secret is deleted. This
        cannot be undone. To pause the webhook, disable it instead.
      </p>
    ),
    remove: (tx, { id }, actor) => deleteWebhook(ctx, tx, id, actor),
  });

  addConfirmationRoutes(area, deps);
  addDeliveryRoutes(area, deps);
  return area.routes;
}
