import type { Reader } from "../../db/statements";
import { type Tone } from "../../domain/tone";
import { ANY_EVENT } from "../../domain/webhook";
import { isDisabledByPerson } from "../../features/webhooks/declared";
import type { DeliveryRecord } from "../../features/webhooks/deliveries";
import { findNewestDeliveryAbout } from "../../features/webhooks/log-store";
import { listAllWebhooks, type WebhookRow } from "../../features/webhooks/store";
import { webhookName } from "../../features/webhooks/changes";
import { plural } from "../../kernel/text";
import { toIso } from "../../kernel/time";
import { DetailCard, DetailRow } from "../../ui/detail";
import { RelativeTime } from "../../ui/relative-time";
import { Shape } from "../../ui/labels";
import { webhookPath } from "../paths";
import { toneOfDelivery } from "../webhooks/deliveries";

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
        <p class="muted detail-body">No webhook of this page gets these events.</p>
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
