import { webhookName, type WebhookRow } from "../../features/webhooks";
import { toIso } from "../../kernel/time";
import { RelativeTime, Notice, PostButton } from "../../ui";
import { pathsOfWebhook } from "./webhook-paths";

interface DisabledNoticeProps {
  row: WebhookRow;
  now: number;
  /**
   * True on lists, where the notice links to the endpoint. Otherwise the notice has a button that
   * enables the endpoint.
   */
  isLink?: boolean;
}

/** Notice of an endpoint that was disabled, automatically or by a user. */
export function DisabledNotice({ row, now, isLink = false }: DisabledNoticeProps) {
  const { home, enable } = pathsOfWebhook(row.id);
  const { disabledReason: reason, disabledAt } = row;
  const name = webhookName(row);
  const title =
    reason === null
      ? "This webhook is disabled"
      : isLink
        ? `“${name}” was disabled`
        : "This webhook was disabled automatically";
  return (
    <Notice tone={reason === null ? "info" : "danger"} title={title}>
      {reason === null ? "Nothing is sent to it." : `${reason} Nothing is sent to it since.`}{" "}
      {disabledAt === null ? null : (
        <>
          Disabled <RelativeTime at={toIso(disabledAt)} now={now} />.{" "}
        </>
      )}
      {isLink ? (
        <a href={home}>Open webhook</a>
      ) : (
        <PostButton action={enable}>Enable webhook</PostButton>
      )}
    </Notice>
  );
}
