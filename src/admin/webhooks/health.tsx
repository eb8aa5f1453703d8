import { type Backlog, type Failure, webhookName, type WebhookRow } from "../../features/webhooks";
import { percent } from "../../kernel/numbers";
import { toIso } from "../../kernel/time";
import { CellNote, Chip, Notice, OneLine, PostButton, RelativeTime } from "../../ui";
import { pathsOfWebhook } from "./webhook-paths";

/** State of an endpoint: enabled, failing or disabled. */
export function WebhookState({ row }: { row: WebhookRow }) {
  if (!row.enabled) {
    return row.disabledReason === null ? (
      <Chip>Disabled</Chip>
    ) : (
      <Chip tone="major">Disabled automatically</Chip>
    );
  }
  return row.failingSince === null ? (
    <Chip tone="ok">Enabled</Chip>
  ) : (
    <Chip tone="degraded">Failing</Chip>
  );
}

/** Share of the last day's attempts that succeeded, such as "98.2 %". */
export function SuccessRate({ rate }: { rate: number | null }) {
  if (rate === null) return <span class="quiet-text">No attempts</span>;
  return <>{percent(rate, 1)}</>;
}

/** Number and oldest age of the deliveries waiting for an endpoint. */
export function Waiting({ backlog, now }: { backlog: Backlog | undefined; now: number }) {
  if (!backlog) return <span class="quiet-text">None</span>;
  return (
    <>
      {backlog.count.toLocaleString("en")}
      <CellNote>
        <OneLine>
          oldest <RelativeTime at={toIso(backlog.oldestAt)} now={now} />
        </OneLine>
      </CellNote>
    </>
  );
}

/** Last failure of an endpoint: error and time. */
export function LastError({ failure, now }: { failure: Failure | undefined; now: number }) {
  if (!failure) return <span class="quiet-text">None</span>;
  return (
    <>
      {describeFailure(failure)}
      <CellNote>
        <RelativeTime at={toIso(failure.at)} now={now} />
      </CellNote>
    </>
  );
}

/** Returns a failure as text: "Status 503", or the reason for a missing response. */
export function describeFailure({ statusCode, error }: Omit<Failure, "at">): string {
  return statusCode === null ? (error ?? "No response") : `Status ${statusCode}`;
}

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
    <Notice tone={reason === null ? "none" : "major"} title={title}>
      {reason === null ? "No events are sent." : `${reason} No events have been sent since then.`}{" "}
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
