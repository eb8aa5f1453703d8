import { Elysia } from "elysia";
import { readHeadline } from "../../features/status";
import {
  getDelivery,
  getTries,
  getWebhookRecord,
  redeliver,
  redeliverFailed,
  sentRequest,
  webhookName,
} from "../../features/webhooks";
import { type RequestContext, actorOf, formBody, seeOther, session } from "../../http";
import { plural } from "../../kernel/text";
import { DAY_MS, parseInstant, toIso } from "../../kernel/time";
import { createDone } from "../done";
import { type Complaints, NO_COMPLAINTS, statusOf } from "../field-errors";
import { formatDateTimeInput, DATE_TIME_ERROR, parseDateTimeInput } from "../date-time-input";
import type { AdminDependencies } from "../dependencies";
import type { ScreenRequest } from "../render";
import { screenOperation } from "../screen-operation";
import { RedeliverFailed } from "./confirm";
import { DeliveryDetail } from "./delivery";
import { pathsOfWebhook } from "./webhook-paths";

/** Routes that show the deliveries of an endpoint and redeliver them. */
export function webhookDeliveryRoutes(deps: AdminDependencies) {
  const { ctx, requestContexts, render, writeAs } = deps;
  const done = createDone(deps.flashes);
  const MAY_MANAGE = session("admin");

  function showQuestion(
    at: ScreenRequest,
    id: string,
    since: string,
    complaints: Complaints = NO_COMPLAINTS,
  ) {
    const { row } = getWebhookRecord(ctx.db, id, ctx.clock.now());
    if (!row.enabled) return seeOther(pathsOfWebhook(id).home);
    return render.screen(at, {
      title: "Redeliver what failed",
      status: statusOf(complaints),
      children: <RedeliverFailed row={row} since={since} complaints={complaints} />,
    });
  }

  /** Queues failed deliveries again, in transactions of bounded size, and returns their number. */
  async function redeliverSince(
    requestContext: RequestContext,
    id: string,
    since: number,
  ): Promise<number> {
    let count = 0;
    let after: string | undefined;
    do {
      // The next part begins where this one ends.
      // oxlint-disable-next-line no-await-in-loop
      const part = await writeAs(requestContext, (tx) =>
        redeliverFailed(ctx, tx, { webhookId: id, since, after }, actorOf(requestContext)),
      );
      count += part.count;
      after = part.next;
    } while (after !== undefined);
    return count;
  }

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      "/:id/redeliver",
      async ({ request, requestContext, params }) => {
        const since = toIso(ctx.clock.now() - DAY_MS).replace(/:\d\d\.\d+Z$/, "");
        return showQuestion({ request, requestContext }, params.id, formatDateTimeInput(since));
      },
      screenOperation("Asks since when failed deliveries are sent again", MAY_MANAGE),
    )
    .post(
      "/:id/redeliver",
      async ({ request, requestContext, params: { id }, body: form }) => {
        const typed = form.text("since");
        const since = parseInstant(parseDateTimeInput(typed) ?? "");
        if (since === undefined) {
          return showQuestion({ request, requestContext }, id, typed, { since: DATE_TIME_ERROR });
        }
        const count = await redeliverSince(requestContext, id, since);
        const text =
          count === 0 ? undefined : `${plural(count, "event")} will be sent again, in order.`;
        return done(requestContext, pathsOfWebhook(id).home, text);
      },
      { ...formBody(), ...screenOperation("Send failed deliveries again", MAY_MANAGE) },
    )
    .get(
      "/:id/deliveries/:delivery_id",
      async ({ request, requestContext, params, query }) => {
        const { now } = requestContext;
        const { row } = getWebhookRecord(ctx.db, params.id, now);
        const delivery = getDelivery(ctx.db, row.id, params.delivery_id);
        const tries = getTries(ctx.db, delivery.row.id);
        const page = {
          row,
          delivery,
          tries,
          shown: tries.find(({ number }) => String(number) === query["try"]) ?? tries.at(-1),
          request: sentRequest(ctx, delivery.row.id, readHeadline),
          now,
        };
        return render.screen(
          { request, requestContext },
          {
            title: `${delivery.eventType} to “${webhookName(row)}”`,
            children: <DeliveryDetail {...page} />,
          },
        );
      },
      screenOperation("One delivery of a webhook", MAY_MANAGE),
    )
    .post(
      "/:id/deliveries/:delivery_id/redeliver",
      async ({ requestContext, params }) => {
        const { row } = await writeAs(requestContext, (tx) =>
          redeliver(ctx, tx, params.id, params.delivery_id, actorOf(requestContext)),
        );
        const path = pathsOfWebhook(params.id).delivery(row.id);
        return done(requestContext, path, "The event is sent again.");
      },
      { ...formBody(), ...screenOperation("Send a delivery again", MAY_MANAGE) },
    );
}
