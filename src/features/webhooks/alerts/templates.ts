import { ALERT_TEMPLATE } from "../../../base/mail-address";
import type { Ctx } from "../../../context";
import type { Reader } from "../../../db/statements";
import { composeMail, domainOf, type MailTemplate, type Templates } from "../../mail/compose";
import {
  type Block,
  button,
  type Letter,
  link,
  muted,
  ownLetter,
  paragraph,
  renderLetter,
  title,
} from "../../mail/letter";
import { findEarlierMail, type MailRow } from "../../mail/store";
import { addressHmac, findMailKey, tokenOf } from "../../mail/tokens";
import { contextOf, outgoingOf } from "../deliver/message";
import { findForTry } from "../delivery-store";
import { alertLetter, alertSubject } from "../formats/email";
import { buildNotification } from "../formats/notification";
import { type Member, overtakenAmong } from "../deliver/groups";
import { listMembers } from "../gathering-store";
import { isOpenToEvents, recipientOf } from "../recipient";
import { type NamedWebhook, webhookName } from "../records";
import type { WebhookRow } from "../store";
import { alertMailId } from "./alerts";
import { CONFIRMATION_TEMPLATE, isStillAsked } from "./confirmation";

const PRODUCT = "Allclear";

const alert: MailTemplate = (mail, env) => {
  const { ctx, settings } = env;
  const members = membersOfMail(ctx.db, mail);
  const row = members[0] && findForTry(ctx.db, members[0].delivery);
  if (!row || !isWanted(ctx, row.webhook, mail)) return "unwanted";
  const outgoing = outgoingOf(ctx.db, row, members);
  const { event } = outgoing;
  const context = contextOf(ctx, outgoing);
  const notification = buildNotification(event, context);
  if (!notification) return "unwanted";
  const earlier = { subjectId: mail.subjectId, recipient: mail.recipient, before: mail.id };
  const isFirst = findEarlierMail(ctx.db, earlier) === undefined;
  const subject = alertSubject(notification, context);
  const thread = `<${mail.subjectId}@${domainOf(settings)}>`;
  const footer = footerOfAlert(ctx.baseUrl, row.webhook);
  return composeMail(mail, env, {
    fromName: settings.from.name ?? PRODUCT,
    ...renderLetter({ ...alertLetter(event, notification, context), footer }),
    subject: isFirst ? subject : `Re: ${subject}`,
    references: thread,
    inReplyTo: isFirst ? undefined : thread,
  });
};

/** Returns the deliveries that a mail sends, oldest first. One that a person queued again meanwhile has another mail. */
function membersOfMail(reader: Reader, { id, params }: MailRow): Member[] {
  const groupId = params["group_id"];
  const row = findForTry(reader, { id: String(params["delivery_id"]) });
  const queued = typeof groupId === "string" ? listMembers(reader, { groupId }) : row ? [row] : [];
  const members = queued.filter(
    ({ delivery }) => delivery.status === "pending" && alertMailId(delivery) === id,
  );
  const overtaken = new Set(overtakenAmong(reader, members, { format: "email", settings: {} }));
  return members.filter(({ delivery }) => !overtaken.has(delivery.id));
}

/** Returns true if an endpoint still sends to the recipient of a mail. */
function isWanted(ctx: Ctx, webhook: WebhookRow, { recipient }: MailRow): boolean {
  const { enabled, deletedAt, format, url } = webhook;
  if (!enabled || deletedAt !== null || format !== "email") return false;
  return recipientOf(url) === recipient && isOpenToEvents(ctx.db, webhook);
}

/** Returns the lines that name the endpoint of an alert. */
export function footerOfAlert(
  baseUrl: string,
  webhook: NamedWebhook & Pick<WebhookRow, "id">,
): Block[] {
  return [
    muted(
      "You get this mail from the webhook ",
      { name: webhookName(webhook) },
      ` of ${new URL(baseUrl).host}.`,
    ),
    link("Open the webhook", `${baseUrl}/admin/settings/webhooks/${webhook.id}`),
  ];
}

const confirmation: MailTemplate = (mail, env) => {
  const { ctx, settings } = env;
  const key = findMailKey(ctx.db);
  if (!key) return "unwanted";
  // It may have waited for hours: the webhook may be deleted, or its address open to events.
  const mark = addressHmac(key, mail.recipient.toLowerCase());
  if (!isStillAsked(ctx.db, mail.recipient, mark)) return "unwanted";
  const url = `${ctx.baseUrl}/mail/alerts/${tokenOf(key, "alerts", { id: mail.id })}`;
  const { host } = new URL(ctx.baseUrl);
  return composeMail(mail, env, {
    fromName: settings.from.name ?? PRODUCT,
    ...renderLetter(confirmationLetter(host, url)),
    subject: `Confirm alerts from ${host}`,
  });
};

/** Returns the mail that asks an address to confirm alerts. It contains nothing that a stranger wrote. */
function confirmationLetter(host: string, url: string): Letter {
  return ownLetter({
    preheader: "Open the link within 7 days to get alerts by e-mail.",
    blocks: [
      title("Confirm alerts by e-mail"),
      paragraph(
        "Someone on the team of ",
        { name: host },
        " wants alerts about incidents, maintenance and monitors sent to this address. Open the link within 7 days and confirm, or decline.",
      ),
      button("Confirm or decline", url),
      muted("If you do nothing, you get no alerts."),
    ],
  });
}

/** Mails of endpoints for e-mail. */
export const ALERT_TEMPLATES: Templates = {
  [ALERT_TEMPLATE]: alert,
  [CONFIRMATION_TEMPLATE]: confirmation,
};
