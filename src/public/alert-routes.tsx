import { Elysia } from "elysia";
import type { AppContext } from "../context";
import { maskAddress } from "../domain/mail-address";
import { invalidFields } from "../errors";
import { confirmAlerts, declineAlerts, openAlertLink } from "../features/webhooks";
import { formBody, type RequestContexts, sendHtml } from "../http";
import type { HtmlDocument } from "../ui";
import { linkOperation } from "./link-operation";
import { renderMailDocument } from "./mail-document";
import { renderEnd } from "./mail-pages";

const ENDS = {
  confirm: { title: "Alerts are on", text: "Alerts are sent to this address from now on." },
  decline: {
    title: "Declined",
    text: "No alerts, no further questions and no mails of subscriptions are sent to this address.",
  },
};

/** `/mail/alerts/…`: the link by which an address confirms alerts for the team. Only its buttons change anything. */
export function alertRoutes(ctx: AppContext, requestContexts: RequestContexts) {
  const { db } = ctx;
  const declared = (summary: string) => linkOperation(db, summary, openAlertLink);

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      "/mail/alerts/:token",
      ({ params: { token }, request, requestContext: { domain } }) => {
        const { mail, webhooks } = openAlertLink(db, token, { domain, now: ctx.clock.now() });
        const isConfirmed = webhooks.every(({ confirmedAt }) => confirmedAt !== null);
        const { host } = new URL(ctx.baseUrl);
        return sendHtml(request, renderQuestion({ host, address: mail.recipient, isConfirmed }));
      },
      declared("Ask if an address wants alerts"),
    )
    .post(
      "/mail/alerts/:token",
      async ({ params: { token }, body: form, request, requestContext: { domain } }) => {
        const action = form.text("action");
        if (action !== "confirm" && action !== "decline") {
          const detail = "must be one of the actions of the form";
          throw invalidFields([{ pointer: "#/action", detail }]);
        }
        await db.write((tx) => {
          const link = openAlertLink(tx, token, { domain, now: ctx.clock.now() });
          const answer = action === "confirm" ? confirmAlerts : declineAlerts;
          answer(ctx, tx, link);
        });
        return sendHtml(request, renderEnd(undefined, ENDS[action]));
      },
      { ...formBody(), ...declared("Confirm or decline alerts to an address") },
    );
}

interface Question {
  host: string;
  address: string;
  isConfirmed: boolean;
}

function renderQuestion({ host, address, isConfirmed }: Question): HtmlDocument {
  const title = isConfirmed ? "Alerts are on" : "Confirm alerts by e-mail";
  return renderMailDocument({
    page: undefined,
    title,
    children: (
      <section class="card panel">
        <h1>{title}</h1>
        <p>
          {isConfirmed
            ? `Alerts from ${host} are sent to this address.`
            : `The team of ${host} wants to send alerts about incidents, maintenance and monitors to this address.`}
        </p>
        <dl>
          <div>
            <dt>Address</dt>
            <dd>
              <bdi>{maskAddress(address)}</bdi>
            </dd>
          </div>
        </dl>
        <p class="muted">
          {isConfirmed ? "Stopping alerts" : "Declining"} also ends mails of subscriptions to status
          pages of {host} to this address. An administrator can undo it.
        </p>
        <form method="post" class="actions">
          {isConfirmed ? null : (
            <button class="button primary" name="action" value="confirm">
              Send me alerts
            </button>
          )}
          <button class="button" name="action" value="decline">
            {isConfirmed ? "Stop alerts" : "Decline"}
          </button>
        </form>
      </section>
    ),
  });
}
