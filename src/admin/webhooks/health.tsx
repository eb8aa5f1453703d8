import { type Backlog, type Failure, type WebhookRow } from "../../features/webhooks";
import { toIso } from "../../kernel/time";
import { CellNote, Chip, RelativeTime, OneLine } from "../../ui";

/** State of an endpoint: enabled, failing or disabled. */
export function WebhookState({ row }: { row: WebhookRow }) {
  if (!row.enabled) {
    return row.disabledReason === null ? (
      <Chip>Disabled</Chip>
    ) : (
      <Chip tone="danger">Disabled automatically</Chip>
    );
  }
  return row.failingSince === null ? (
    <Chip tone="success">Enabled</Chip>
  ) : (
    <Chip tone="warning">Failing</Chip>
  );
}

/**
 * Share of the last day's attempts that succeeded: "98.2 %", rounded down so that a failure never
 * shows as 100 %.
 */
export function SuccessRate({ rate }: { rate: number | null }) {
  if (rate === null) return <span class="quiet-text">Nothing sent</span>;
  return <>{formatRate(rate)}</>;
}

function formatRate(rate: number): string {
  const percent = Math.floor(rate * 1_000) / 10;
  return `${percent.toLocaleString("en")} %`;
}

/** Number and oldest age of the deliveries waiting for an endpoint. */
export function Waiting({ backlog, now }: { backlog: Backlog | undefined; now: number }) {
  if (!backlog) return <span class="quiet-text">Nothing</span>;
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

/** Returns a failure as text: "Answered 503", or the reason for a missing response. */
export function describeFailure({ statusCode, error }: Omit<Failure, "at">): string {
  return statusCode === null ? (error ?? "Nothing answered") : `Answered ${statusCode}`;
}
