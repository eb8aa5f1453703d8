import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Ctx } from "../context";
import { maskAddress } from "../base/mail-address";
import { invalidFields } from "../base/errors";
import { confirmAlerts, declineAlerts, openAlertLink } from "../features/webhooks/alerts/answer";
import { formBody } from "../http/form-body";
import type { RequestContexts } from "../http/elysia";
import { sendHtml } from "../http/answers";
import { OneOf } from "../base/schema";
import type { HtmlDocument } from "../ui/documents";
import { linkOperation } from "./link-operation";
import { renderMailDocument } from "./mail-document";
import { renderEnd } from "./mail-pages";

const ENDS = {
  confirm: { title: "Alerts are on", text: "Alerts are sent to this address from now on." },
  decline: {
    title: "Alerts are off",
    text: "No alerts and no further questions about them are sent to this address. Subscriptions to status pages stay.",
  },
};

/** `/mail/alerts/…`: the link by which an address confirms alerts for the team. Only its buttons change anything. */
export function alertRoutes(ctx: Ctx, requestContexts: RequestContexts) {
  const { db } = ctx;
  const declared = (id: string, summary: string, more?: Parameters<typeof linkOperation>[3]) =>
    linkOperation(db, { id, summary }, openAlertLink, more);

  return new Elysia()
    .use(requestContexts.plugin)
    .get(
      "/mail/alerts/:token",
      ({ params: { token }, request, requestContext: { domain } }) => {
        const { mail, isOn } = openAlertLink(db, token, { domain, now: ctx.clock.now() });
        const { host } = new URL(ctx.baseUrl);
        return sendHtml(request, renderQuestion({ host, address: mail.recipient, isOn }));
      },
      declared("showAlertLink", "Ask if an address wants alerts"),
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
      {
        ...formBody(),
        ...declared("answerAlertLink", "Confirm or decline alerts to an address", {
          form: Type.Object({ action: OneOf(["confirm", "decline"]) }),
        }),
      },
    );
}

interface Question {
  host: string;
  address: string;
  isOn: boolean;
}

function renderQuestion({ host, address, isOn }: Question): HtmlDocument {
  const title = isOn ? "Alerts are on" : "Confirm alerts by e-mail";
  return renderMailDocument({
    page: undefined,
    title,
    children: (
      <section class="card panel">
        <h1>{title}</h1>
        <p>
          {isOn
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
          {isOn ? "Stopping alerts" : "Declining"} does not end subscriptions of this address to
          status pages of {host}.
        </p>
        <form method="post" class="actions">
          {isOn ? null : (
            <button class="button primary" name="action" value="confirm">
              Send me alerts
            </button>
          )}
          <button class="button" name="action" value="decline">
            {isOn ? "Stop alerts" : "Decline"}
          </button>
        </form>
      </section>
    ),
  });
}
