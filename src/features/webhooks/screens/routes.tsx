import { validate } from "../../../base/validation";
import type { Reader } from "../../../db/statements";
import { sessionOf } from "../../../http/request-context";
import { Button } from "../../../ui/buttons";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { WEBHOOKS_PATH } from "../../../ui/frame/paths";
import type { Screen } from "../../../ui/frame/render";
import { newFormToken, type Reveal } from "../../../ui/frame/changes";
import { createArea } from "../../../ui/screens/area";
import { FormScreen, ManagedByFile, shownBefore } from "../../../ui/screens/form-screen";
import { makeOnce } from "../../submissions/store";
import { findQuestion } from "../alerts/confirmation";
import { getWebhookRecord, webhookName } from "../records";
import { sendTestEvent } from "../deliveries";
import type { WebhookRow } from "../store";
import { createWebhook, deleteWebhook, rotateSecret, updateWebhook } from "../webhooks";
import { CreateWebhookBody, presentWebhook, UpdateWebhookBody } from "../wire";
import { DisableWebhook, RotateSecret } from "./confirm";
import { addDeliveryRoutes } from "./delivery";
import {
  addConfirmationRoutes,
  awaitFirstTry,
  madeWithoutSecret,
  RevealedSecret,
  TEST_RESULTS,
  WebhookDetail,
} from "./detail";
import {
  CONFIRM_FORM,
  formatNamed,
  isChoosingFormat,
  readFormContext,
  shownFormat,
  WEBHOOK_FORM,
} from "./forms";
import { WebhookList } from "./list";
import { NEW_WEBHOOK_PATH, pathsOfWebhook, readWebhookList, readWebhookView } from "./read";

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
        object: { href: pathsOfWebhook(reveal.shownBefore).home, label: "Open webhook" },
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
    redisplay: (values, sent) => (isChoosingFormat(sent) ? values : undefined),
    show: (state) => ({
      title: "Create webhook",
      // The typed URL may be a secret.
      isSecret: true,
      children: (
        <FormScreen
          title="Create webhook"
          crumbs={[WEBHOOKS_CRUMB]}
          form={WEBHOOK_FORM}
          state={state}
          action={NEW_WEBHOOK_PATH}
          enter={{}}
        >
          <Button kind="primary">Create webhook</Button>
        </FormScreen>
      ),
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
    redisplay: (values, sent) => (isChoosingFormat(sent) ? values : undefined),
    show(state) {
      const { row } = state.context;
      const { home, edit } = pathsOfWebhook(row.id);
      return {
        title: `Edit “${webhookName(row)}”`,
        // The typed URL may be a secret.
        isSecret: true,
        children: (
          <FormScreen
            title="Edit webhook"
            crumbs={[WEBHOOKS_CRUMB, { href: home, label: webhookName(row) }]}
            above={row.managedBy === "apply" ? <ManagedByFile what="webhook" /> : null}
            form={WEBHOOK_FORM}
            state={state}
            action={edit}
            enter={{}}
          >
            <Button kind="primary">Save changes</Button>
          </FormScreen>
        ),
      };
    },
    update(tx, changes, actor, { params }, { row }) {
      const body = validate(UpdateWebhookBody, changes);
      const after = updateWebhook(ctx, tx, params.id, body, actor);
      return after.row.version !== row.version;
    },
    done: ({ params }) => ({
      path: pathsOfWebhook(params.id).home,
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
        path: pathsOfWebhook(params.id).delivery(subjectId),
        text: TEST_RESULTS[row.status],
      };
    },
  });

  area.secretForm("/:id/rotate", {
    form: CONFIRM_FORM,
    load: (reader, { params }) => rowOf(reader, params.id),
    show({ context: row, hidden }) {
      const title = `Rotate the secret of “${webhookName(row)}”`;
      return { title, children: <RotateSecret title={title} row={row} hidden={hidden} /> };
    },
    create(tx, _, actor, { params }) {
      const { row } = rotateSecret(ctx, tx, params.id, actor);
      return { made: row, subjectId: row.id };
    },
    reveal: (reveal) => showSecret(reveal, "Your new secret"),
  });

  area.confirmation("/:id/disable", {
    show({ params }) {
      const row = rowOf(ctx.db, params.id);
      if (!row.enabled) return { path: pathsOfWebhook(row.id).home };
      const title = `Disable “${webhookName(row)}”`;
      return { title, children: <DisableWebhook title={title} row={row} /> };
    },
    run: (tx, { params }, actor) => updateWebhook(ctx, tx, params.id, { enabled: false }, actor),
    done: (_, { params }) => ({
      path: pathsOfWebhook(params.id).home,
      text: "The webhook was disabled.",
    }),
  });

  area.action("/:id/enable", {
    run: (tx, { params }, actor) => updateWebhook(ctx, tx, params.id, { enabled: true }, actor),
    done: (_, { params }) => ({
      path: pathsOfWebhook(params.id).home,
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
