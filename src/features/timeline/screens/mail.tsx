import type { SubscriberEvent } from "../../../base/mail-address";
import type { Tone } from "../../../base/status";
import { plural } from "../../../base/text";
import { toIso } from "../../../base/time";
import { ANY_EVENT } from "../../../base/webhook";
import type { Ctx } from "../../../context";
import type { Reader } from "../../../db/statements";
import type { Form } from "../../../http/form-body";
import { Shape } from "../../../ui/blocks";
import { DetailCard, DetailRow } from "../../../ui/detail";
import { NEW_WEBHOOK_PATH, webhookPath } from "../../../ui/frame/paths";
import { RelativeTime } from "../../../ui/times";
import { findMailHold } from "../../mail/hold";
import { mailReadiness } from "../../mail/settings";
import { type Audience, countAudience, countAudienceOf } from "../../mailings/lists";
import { mailingsLeft } from "../../mailings/mailings";
import type { PageRow } from "../../pages/store";
import { findNewestDeliveryAbout } from "../../webhooks/log-store";
import { type DeliveryRecord, webhookName } from "../../webhooks/records";
import { isDisabledByPerson } from "../../webhooks/rules";
import { toneOfDelivery } from "../../webhooks/screens/delivery";
import { listAllWebhooks, type WebhookRow } from "../../webhooks/store";

type MailedPage = Pick<PageRow, "id" | "visibility" | "isSample">;

/** Sentences about the subscribers who get a mail. */
export interface AudienceNote {
  /** For the components of the form as it was sent, such as "E-mails 1,240 of 3,100 subscribers." */
  exact: string;
  /** For any components; undefined if they make no difference. */
  most: string | undefined;
}

/** Returns the sentences for a mail about components; undefined if no subscriber can get one. */
export function audienceNote(
  ctx: Ctx,
  page: MailedPage,
  choice: SubscriberEvent,
  componentIds: readonly string[],
): AudienceNote | undefined {
  if (!isMailed(ctx, page)) return undefined;
  const audience = countAudience(ctx.db, { pageId: page.id, choice, componentIds });
  return noteOf(audience, componentIds.length === 0, leftNote(ctx, ctx.db, page));
}

/**
 * Returns the sentences for the next update of an incident or a maintenance. `further` are components that it
 * names besides earlier ones.
 */
export function audienceNoteOf(
  ctx: Ctx,
  reader: Reader,
  page: MailedPage,
  subject: { id: string; kind: "incident" | "maintenance" },
  further: readonly string[] = [],
): AudienceNote | undefined {
  const audience = isMailed(ctx, page)
    ? countAudienceOf(reader, { ...subject, pageId: page.id }, further)
    : undefined;
  return audience && noteOf(audience, audience.namesNone, leftNote(ctx, reader, page));
}

function isMailed(ctx: Ctx, { visibility, isSample }: MailedPage): boolean {
  return visibility === "public" && !isSample && mailReadiness(ctx).ready;
}

/** Number of mailings that people have left on a page from which on the forms say it. */
const LEFT_SHOWN = 20;

/** Returns a sentence if mailings are held, or if people have few left today; else an empty text. */
function leftNote({ clock }: Ctx, reader: Reader, { id: pageId }: MailedPage): string {
  if (findMailHold(reader)) return " All mailings are held until an admin releases them.";
  const left = mailingsLeft(reader, { pageId, author: "person", now: clock.now() });
  if (left > LEFT_SHOWN) return "";
  if (left > 0) return ` ${plural(left, "more mailing")} can go out today.`;
  return " No more mailings can go out today, so this one waits for an admin.";
}

function noteOf(audience: Audience, namesNone: boolean, left: string): AudienceNote | undefined {
  const { total, reached, isExact, selections, most } = audience;
  if (total === 0) return undefined;
  const subscribers = plural(total, "subscriber");
  const upTo = isExact ? "" : "up to ";
  const exact = `E-mails ${upTo}${reached.toLocaleString("en")} of ${subscribers}.`;
  if (selections === 0) return { exact: exact + left, most: undefined };
  const others =
    selections === 1
      ? "1 who chose components gets"
      : `${selections.toLocaleString("en")} who chose components get`;
  return {
    exact: (namesNone ? `${exact} It names no component, so ${others} none.` : exact) + left,
    most: `E-mails up to ${most.toLocaleString("en")} of ${subscribers}, depending on its components.${left}`,
  };
}

/** Value of the field `intent` with which a script sends a form to have its subscribers counted again. */
const COUNT_INTENT = "count";

/** Returns true for a form that is only sent to have its subscribers counted. */
export function isCounting(sent: Form): boolean {
  return sent.text("intent") === COUNT_INTENT;
}

/**
 * Sentence of a form in which components are chosen. A script shows the exact one, and counts again when the form
 * changes; without it, the sentence is true for any components.
 */
export function AudienceHint({ audience: { exact, most } }: { audience: AudienceNote }) {
  if (most === undefined) return <>{exact}</>;
  return (
    <span data-counted={exact} data-count-intent={COUNT_INTENT} aria-live="polite">
      {most}
    </span>
  );
}

/** Maximum number of webhooks in the card. */
const SHOWN_MAX = 20;

/** Webhook that gets the messages of an incident or a maintenance. */
export interface NotifiedWebhook {
  webhook: WebhookRow;
  /** Newest delivery about the object, if one is found. */
  delivery: DeliveryRecord | undefined;
}

/**
 * Reads the webhooks of a page that get events with a prefix, such as `incident.`, each with its newest
 * delivery about an object.
 */
export function readNotified(
  reader: Reader,
  { pageId, prefix, subjectId }: { pageId: string; prefix: string; subjectId: string },
): NotifiedWebhook[] {
  return listAllWebhooks(reader, {})
    .filter((webhook) => webhook.pageId === null || webhook.pageId === pageId)
    .filter(({ events }) => events.some((event) => event === ANY_EVENT || event.startsWith(prefix)))
    .map((webhook, index) => ({
      webhook,
      delivery:
        index < SHOWN_MAX
          ? findNewestDeliveryAbout(reader, { webhookId: webhook.id, subjectId })
          : undefined,
    }));
}

/** Returns the label of the checkbox that sends notifications: "Notify 3 webhooks". */
export function notifyLabel(notified: readonly NotifiedWebhook[]): string {
  const count = notified.filter(({ webhook }) => webhook.enabled).length;
  return count === 0 ? "Send notifications" : `Notify ${plural(count, "webhook")}`;
}

interface NotifiedProps {
  notified: readonly NotifiedWebhook[];
  now: number;
}

/** Card with the webhooks that are notified, for roles that may open them. */
export function Notified({ notified, now }: NotifiedProps) {
  const more = notified.length - SHOWN_MAX;
  return (
    <DetailCard title="Notified" liveId="notified" isFlush>
      {notified.length === 0 ? (
        <p class="muted detail-body">
          No webhook of this page gets these events. <a href={NEW_WEBHOOK_PATH}>Create webhook</a>
        </p>
      ) : (
        <ul>
          {notified.slice(0, SHOWN_MAX).map(({ webhook, delivery }) => (
            <DetailRow
              key={webhook.id}
              shape={
                <Shape tone={toneOf(webhook, delivery)} isPaused={isDisabledByPerson(webhook)} />
              }
              href={webhookPath(webhook.id)}
              title={webhookName(webhook)}
              note={<Outcome webhook={webhook} delivery={delivery} now={now} />}
            />
          ))}
        </ul>
      )}
      {more > 0 ? <p class="muted detail-body">And {plural(more, "other webhook")}.</p> : null}
    </DetailCard>
  );
}

function toneOf(webhook: WebhookRow, delivery: DeliveryRecord | undefined): Tone {
  if (!webhook.enabled) return isDisabledByPerson(webhook) ? "none" : "major";
  return delivery ? toneOfDelivery(delivery.row) : "none";
}

function Outcome({ webhook, delivery, now }: NotifiedWebhook & { now: number }) {
  if (!webhook.enabled)
    return <>{isDisabledByPerson(webhook) ? "Disabled" : "Disabled automatically"}</>;
  if (!delivery) return <>No delivery yet</>;
  const { status, tries, nextTryAt, finishedAt } = delivery.row;
  const at = (time: number | null) =>
    time === null ? null : <RelativeTime at={toIso(time)} now={now} />;
  switch (status) {
    case "delivered":
      return <>Delivered {at(finishedAt)}</>;
    case "failed":
      return <>Failed {at(finishedAt)}</>;
    case "cancelled":
      return <>Cancelled {at(finishedAt)}</>;
    case "superseded":
      return <>Superseded {at(finishedAt)}</>;
    case "pending":
      return tries === 0 ? (
        <>Pending</>
      ) : (
        <>
          {describeTry(delivery)}, next attempt {at(nextTryAt)}
        </>
      );
  }
}

function describeTry({ lastTry }: DeliveryRecord): string {
  return lastTry?.statusCode ? `HTTP ${lastTry.statusCode}` : "No response";
}
