import type { Backlog, Failure } from "../../features/webhooks/health";
import { webhookName } from "../../features/webhooks/changes";
import type { WebhookRecord } from "../../features/webhooks/records";
import type { WebhookRow } from "../../features/webhooks/store";
import { percent } from "../../base/numbers";
import { plural } from "../../base/text";
import { toIso } from "../../base/time";
import { ANY_EVENT } from "../../base/webhook";
import { CellNote, OneLine } from "../../ui/list";
import { Notice, State } from "../../ui/blocks";
import { PostButton } from "../../ui/buttons";
import { RelativeTime, SecondTime, secondTime } from "../../ui/times";
import { adviceFor, describeFailure, reasonOf } from "./failure-words";
import { pathsOfWebhook } from "./webhook-paths";

/** State of an endpoint: enabled, paused, failing, not confirmed, without monitors or disabled. */
export function WebhookState({ record }: { record: WebhookRecord }) {
  const { row, confirmedAt, pausedUntil } = record;
  if (!row.enabled) {
    return row.disabledReason === null ? (
      <State tone="none" isPaused>
        Disabled
      </State>
    ) : (
      <State tone="major">Disabled automatically</State>
    );
  }
  const isUnconfirmed = row.format === "email" && confirmedAt === null;
  if (isUnconfirmed) return <State tone="degraded">Not confirmed</State>;
  if (pausedUntil !== null) {
    return (
      <>
        <State tone="degraded" isPaused>
          Paused
        </State>
        <CellNote>
          by the receiver until <SecondTime at={toIso(pausedUntil)} />
        </CellNote>
      </>
    );
  }
  if (row.failingSince !== null) return <State tone="partial">Failing</State>;
  if (isForMonitorsAlone(row) && row.monitors.length === 0) {
    return <State tone="degraded">No monitors</State>;
  }
  return <State tone="ok">Enabled</State>;
}

const isOfMonitors = (event: string) => event.startsWith("monitor.");

function isForMonitorsAlone({ events }: WebhookRow): boolean {
  return events.every(isOfMonitors);
}

/** Notice of an endpoint for selected monitors that has none, such as after they were deleted. */
export function NoMonitorsNotice({ row }: { row: WebhookRow }) {
  const { events, monitors } = row;
  const hasMonitorEvents = events.includes(ANY_EVENT) || events.some(isOfMonitors);
  if (monitors.length > 0 || !hasMonitorEvents) return null;
  const { edit } = pathsOfWebhook(row.id);
  return (
    <Notice tone="degraded" title="No monitor is selected">
      {isForMonitorsAlone(row)
        ? "This webhook gets no events. It is only for events of selected monitors, and none is selected or left."
        : "This webhook gets no events of monitors. It is for selected ones, and none is selected or left."}{" "}
      <a href={edit}>Edit the webhook</a> to select others, or all monitors.
    </Notice>
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

/** Notice of an endpoint whose receiver refuses messages for now. */
export function PausedNotice({
  record: { row, pausedUntil },
  backlog,
}: {
  record: WebhookRecord;
  backlog: Backlog | undefined;
}) {
  if (pausedUntil === null) return null;
  return (
    <Notice
      tone="degraded"
      title={`Paused by the receiver until ${secondTime(toIso(pausedUntil))}`}
    >
      The receiver limits requests and has refused one. Nothing is sent to its URL until then.{" "}
      {backlog === undefined
        ? ""
        : `${plural(backlog.count, "event")} ${backlog.count === 1 ? "is" : "are"} pending. `}
      Refused events are sent again in order, which uses up none of their retries.
      {row.failingSince === null
        ? null
        : " After five days in which none is accepted, the webhook is disabled."}
    </Notice>
  );
}

interface FailingNoticeProps {
  row: WebhookRow;
  failure: Failure | undefined;
  backlog: Backlog | undefined;
  now: number;
}

/** Notice of an endpoint whose attempts all fail: reason, next step and consequence. */
export function FailingNotice({ row, failure, backlog, now }: FailingNoticeProps) {
  const { failingSince: since } = row;
  if (since === null) return null;
  const { edit } = pathsOfWebhook(row.id);
  return (
    <Notice tone="partial" title="This webhook is failing">
      <p>
        {failure === undefined
          ? "Every attempt fails."
          : [reasonOf(failure), adviceFor(failure)].filter(Boolean).join(" ")}{" "}
        Then send a test event, or <a href={edit}>edit the webhook</a>.
      </p>
      <p>
        The first attempt failed <RelativeTime at={toIso(since)} now={now} />, and none has
        succeeded since.{" "}
        {backlog === undefined
          ? ""
          : `${plural(backlog.count, "event")} ${backlog.count === 1 ? "is" : "are"} pending. `}
        Each event is retried for three days. After five days of failures, the webhook is disabled.
      </p>
    </Notice>
  );
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
      {reason === null
        ? "No events are sent."
        : `${reason} No events have been sent since then. Correct the receiver or the URL, then enable the webhook.`}{" "}
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
