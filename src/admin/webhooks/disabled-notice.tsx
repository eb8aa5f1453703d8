import { webhookName, type WebhookRow } from "../../features/webhooks";
import { toIso } from "../../kernel/time";
import { RelativeTime, Notice, PostButton } from "../../ui";
import { pathsOfWebhook } from "./webhook-paths";

interface DisabledNoticeProps {
  row: WebhookRow;
  now: number;
  /** Where others are, it leads to the endpoint; on the endpoint's own screen it can be enabled. */
  isLink?: boolean;
}

/** The banner of an endpoint that was disabled because it took nothing any more, or by somebody. */
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
        <a href={home}>Look at it</a>
      ) : (
        <PostButton action={enable}>Enable it again</PostButton>
      )}
    </Notice>
  );
}
