import { findPage } from "../../features/pages/store";
import { readHeadline } from "../../features/status/snapshot";
import {
  getDelivery,
  getTries,
  redeliver,
  redeliverFailed,
  sentRequest,
} from "../../features/webhooks/deliveries";
import { getWebhookRecord } from "../../features/webhooks/records";
import { webhookName } from "../../features/webhooks/changes";
import type { WebhookRow } from "../../features/webhooks/store";
import { actorOf, type RequestContext, sessionOf } from "../../http/request-context";
import { formBody } from "../../http/form-body";
import { session } from "../../http/operation";
import { plural } from "../../base/text";
import { DAY_MS, toIso } from "../../base/time";
import type { AdminDependencies } from "../../ui/frame/dependencies";
import type { TimeZoneContext } from "../../ui/forms/fields";
import { keptNotice, type StateOf } from "../../ui/forms/form";
import type { Screen } from "../../ui/frame/render";
import { KEEPS_TYPED, screenOperation } from "../../ui/screens/routes";
import type { Area } from "../../ui/screens/area";
import { RedeliverFailed } from "./confirm";
import { DeliveryDetail } from "./delivery";
import { REDELIVER_FORM } from "./forms";
import { pathsOfWebhook } from "./webhook-paths";

/** Adds the screen of a delivery, and the actions that send deliveries again. */
export function addDeliveryRoutes(area: Area, deps: AdminDependencies): void {
  const { ctx, flashes, render, writeAs } = deps;

  function rowOf(id: string): WebhookRow {
    return getWebhookRecord(ctx.db, id, ctx.clock.now()).row;
  }

  /** Returns the page whose time zone a form shows: that of the events, if the webhook has one. */
  function zoneOf({ pageId }: WebhookRow): TimeZoneContext {
    const page = pageId === null ? undefined : findPage(ctx.db, { id: pageId });
    return { page: page ?? { timeZone: "UTC" } };
  }

  function askSince(row: WebhookRow, state: StateOf<typeof REDELIVER_FORM>): Screen {
    const title = `Redeliver failed deliveries of “${webhookName(row)}”`;
    return { title, children: <RedeliverFailed title={title} row={row} state={state} /> };
  }

  /** Queues failed deliveries again, in transactions of bounded size, and returns their number. */
  async function redeliverSince(
    requestContext: RequestContext,
    webhookId: string,
    since: number,
  ): Promise<number> {
    let count = 0;
    let after: string | undefined;
    do {
      // Each transaction continues where the one before ended.
      // oxlint-disable-next-line no-await-in-loop
      const part = await writeAs(requestContext, (tx) =>
        redeliverFailed(ctx, tx, { webhookId, since, after }, actorOf(requestContext)),
      );
      count += part.count;
      after = part.next;
    } while (after !== undefined);
    return count;
  }

  area.screen("/:id/redeliver", "Show the form for redelivering failed deliveries", (at) => {
    const row = rowOf(at.params.id);
    if (!row.enabled) return { path: pathsOfWebhook(row.id).home };
    const values = REDELIVER_FORM.stored({ since: toIso(ctx.clock.now() - DAY_MS) });
    return askSince(row, REDELIVER_FORM.state(values, zoneOf(row)));
  });

  // The action takes several transactions, which no helper does.
  area.routes.post(
    "/:id/redeliver",
    async ({ request, requestContext, params: { id }, body: sent }) => {
      const values = REDELIVER_FORM.read(sent);
      const row = rowOf(id);
      const zone = zoneOf(row);
      const kept = keptNotice(sent);
      if (kept !== undefined) {
        const state = { ...REDELIVER_FORM.state(values, zone), kept };
        return render.screen({ request, requestContext }, askSince(row, state));
      }
      const { body, errors } = REDELIVER_FORM.parse(values, zone);
      if (errors.length > 0) {
        const shown = REDELIVER_FORM.errorsByInput(errors, values);
        const state = { ...REDELIVER_FORM.state(values, zone), errors: shown };
        const screen = { ...askSince(row, state), status: 422 };
        return render.screen({ request, requestContext }, screen);
      }
      const count = await redeliverSince(requestContext, id, Date.parse(body.since));
      const text =
        count === 0 ? undefined : `${plural(count, "event")} will be sent again, in order.`;
      return flashes.redirect(sessionOf(requestContext).id, pathsOfWebhook(id).home, text);
    },
    {
      ...formBody(),
      ...screenOperation("Redeliver failed deliveries", session("admin"), KEEPS_TYPED),
    },
  );

  area.screen(
    "/:id/deliveries/:delivery_id",
    "Show a delivery",
    ({ params, query, requestContext: { now } }) => {
      const { row, pausedUntil } = getWebhookRecord(ctx.db, params.id, now);
      const delivery = getDelivery(ctx.db, row.id, params.delivery_id);
      const tries = getTries(ctx.db, delivery.row.id);
      const shown = tries.find(({ number }) => String(number) === query["try"]) ?? tries.at(-1);
      const request = sentRequest(ctx, delivery.row.id, readHeadline);
      return {
        title: `${delivery.eventType} to “${webhookName(row)}”`,
        children: (
          <DeliveryDetail {...{ row, pausedUntil, delivery, tries, shown, request, now }} />
        ),
      };
    },
  );

  area.action("/:id/deliveries/:delivery_id/redeliver", {
    summary: "Redeliver a delivery",
    run: (tx, { params }, actor) => redeliver(ctx, tx, params.id, params.delivery_id, actor),
    done: ({ row }, { params }) => ({
      path: pathsOfWebhook(params.id).delivery(row.id),
      text: "The event was queued to be sent again.",
    }),
  });
}
