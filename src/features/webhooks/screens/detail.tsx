import { maskAddress } from "../../../base/mail-address";
import { percent } from "../../../base/numbers";
import { plural } from "../../../base/text";
import { toIso } from "../../../base/time";
import { localTime } from "../../../base/zones";
import { ANY_EVENT, getsEachEvent, type WebhookFormat } from "../../../base/webhook";
import {
  Card,
  Chip,
  Chips,
  CodeBlock,
  type Fact,
  Facts,
  Notice,
  Section,
  State,
} from "../../../ui/blocks";
import { ButtonLink, PostButton } from "../../../ui/buttons";
import { MoreMenu } from "../../../ui/detail";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { monitorPath, pagePath, webhookPath, WEBHOOKS_PATH } from "../../../ui/frame/paths";
import { crumbsTo } from "../../../ui/frame/places";
import { Icon } from "../../../ui/icons";
import { CellNote, OneLine } from "../../../ui/list";
import { PageHead } from "../../../ui/navigation";
import type { Area } from "../../../ui/screens/area";
import { ManagedByFile } from "../../../ui/screens/form-screen";
import { RelativeTime, SecondTime, secondTime, useZone } from "../../../ui/times";
import { describeQuestion, type Question } from "../alerts/confirmation";
import { FORMATS } from "../formats/index";
import type { Backlog, Failure } from "../health";
import { recipientOf } from "../recipient";
import { webhookName, type WebhookRecord } from "../records";
import type { WebhookRow } from "../store";
import { requestConfirmation } from "../webhooks";
import { presentWebhook } from "../wire";
import { adviceFor, DeliveryList, describeFailure, reasonOf } from "./delivery";
import { settingsOf, settingText } from "./forms";
import type { WebhookView } from "./read";

interface WebhookDetailProps {
  view: WebhookView;
  /**
   * Identifies this rendering of the test button, so that a repeated click sends one test event.
   */
  formToken: string;
  /** Unix ms. */
  now: number;
}

/** One endpoint: settings, health and deliveries. */
export function WebhookDetail({ view, formToken, now }: WebhookDetailProps) {
  const { question } = view;
  const { row } = view.record;
  const isMail = row.format === "email";
  const isOpen = row.enabled && !question;
  return (
    <>
      <PageHead
        title={webhookName(row)}
        crumbs={crumbsTo(WEBHOOKS_PATH)}
        actions={
          <>
            {isOpen ? (
              <PostButton action={webhookPath(row.id, "test")} name="form" value={formToken}>
                Send test event
              </PostButton>
            ) : null}
            <ButtonLink href={webhookPath(row.id, "edit")}>
              <Icon name="pencil" />
              Edit
            </ButtonLink>
            <MoreMenu label="More actions">
              {isMail ? null : (
                <ButtonLink href={webhookPath(row.id, "rotate")} dialog>
                  Rotate secret
                </ButtonLink>
              )}
              {row.enabled ? (
                <ButtonLink href={webhookPath(row.id, "disable")} dialog>
                  Disable
                </ButtonLink>
              ) : null}
              <ButtonLink href={webhookPath(row.id, "delete")} kind="danger" dialog>
                Delete
              </ButtonLink>
            </MoreMenu>
          </>
        }
      />
      {row.enabled ? (
        <>
          {view.record.pausedUntil === null ? (
            <FailingNotice row={row} failure={view.failure} backlog={view.backlog} now={now} />
          ) : (
            <PausedNotice record={view.record} backlog={view.backlog} />
          )}
          <NoMonitorsNotice row={row} />
        </>
      ) : (
        <DisabledNotice row={row} now={now} />
      )}
      {question ? <UnconfirmedNotice row={row} question={question} now={now} /> : null}
      {row.managedBy === "apply" ? <ManagedByFile what="webhook" /> : null}
      <Card>
        <WebhookFacts view={view} now={now} />
      </Card>
      <Section
        title="Deliveries"
        actions={
          isOpen ? (
            <ButtonLink href={webhookPath(row.id, "redeliver")} dialog>
              Redeliver failed deliveries
            </ButtonLink>
          ) : undefined
        }
      >
        <DeliveryList view={view} now={now} />
      </Section>
    </>
  );
}

/** Settings and health of an endpoint, without secrets. */
function WebhookFacts({ view, now }: { view: WebhookView; now: number }) {
  const { record, page, backlog, failure } = view;
  const { row, successRate, confirmedAt } = record;
  const isMail = row.format === "email";
  const { url, settings: shown, secret_settings: secrets } = presentWebhook(record);
  const isEverything = row.events.includes(ANY_EVENT);
  return (
    <Facts
      items={[
        { label: "State", value: <WebhookState record={record} /> },
        { label: "Succeeded, last 24 hours", value: <SuccessRate rate={successRate} /> },
        { label: "Pending", value: <Waiting backlog={backlog} now={now} /> },
        { label: "Last error", value: <LastError failure={failure} now={now} /> },
        isMail
          ? { label: "Address", value: <bdi>{recipientOf(url)}</bdi>, isWide: true }
          : { label: "URL", value: <code>{url}</code>, isWide: true },
        { label: "Format", value: FORMATS[row.format].label },
        ...settingFacts(row.format, shown, secrets),
        {
          label: "Page",
          value: page === null ? "All pages" : <a href={pagePath(page.id)}>{page.name}</a>,
        },
        {
          label: "Events",
          isWide: true,
          value: isEverything ? (
            "All events, including future types"
          ) : (
            <EventChips events={row.events} />
          ),
        },
        { label: "Monitors", value: <Monitors view={view} />, isWide: true },
        ...(!getsEachEvent(row)
          ? [{ label: "Messages about monitors", value: gatheringText(row.groupSeconds) }]
          : []),
        isMail
          ? { label: "Confirmed", value: <Confirmed at={confirmedAt} now={now} /> }
          : { label: "Signing secret", value: <SecretInForce view={view} now={now} /> },
        { label: "Created", value: <RelativeTime at={toIso(row.createdAt)} now={now} /> },
        { label: "Changed", value: <RelativeTime at={toIso(row.updatedAt)} now={now} /> },
        { label: "Id", value: <code>{row.id}</code>, isWide: true },
      ]}
    />
  );
}

/** Facts about the settings of a format: values, and the names of secrets that are set. */
function settingFacts(
  format: WebhookFormat,
  shown: Readonly<Record<string, unknown>>,
  secrets: readonly string[],
): Fact[] {
  const settings = new Map(Object.entries(shown));
  return settingsOf(format).flatMap(({ name, label, kind, isSecret }): Fact[] => {
    if (kind === "secrets") {
      const names = secrets.map((path) => path.slice(name.length + 1));
      return names.length > 0 ? [{ label, value: `Set, not shown: ${names.join(", ")}` }] : [];
    }
    if (isSecret) return secrets.includes(name) ? [{ label, value: "Set, not shown" }] : [];
    if (!settings.has(name)) return [];
    const text = settingText(settings.get(name));
    return kind === "long" || kind === "lines"
      ? [{ label, value: <CodeBlock text={text} />, isWide: true }]
      : [
          {
            label,
            value: name.endsWith("url") ? <code>{text}</code> : text,
            isWide: text.length > 40,
          },
        ];
  });
}

function gatheringText(seconds: number): string {
  return seconds === 0 ? "Each by itself" : `Gathered for ${seconds} s`;
}

function Confirmed({ at, now }: { at: number | null; now: number }) {
  return at === null ? <>Not yet</> : <RelativeTime at={toIso(at)} now={now} />;
}

/** Maximum number of monitors listed by name. */
const MONITORS_SHOWN = 20;

/** Monitors whose events are sent. */
function Monitors({ view: { monitors, page } }: { view: WebhookView }) {
  if (monitors === null) return <>All monitors, including new ones</>;
  if (monitors.length === 0) return <>None</>;
  const outside = monitors.filter(({ isOutside }) => isOutside);
  return (
    <>
      <MonitorChips monitors={monitors.filter(({ isOutside }) => !isOutside)} />
      {outside.length === 0 ? null : (
        <CellNote>
          Not sent, since their events are not of the page {page?.name}:{" "}
          <MonitorChips monitors={outside} />
        </CellNote>
      )}
    </>
  );
}

function MonitorChips({ monitors }: { monitors: readonly { id: string; name: string }[] }) {
  const more = monitors.length - MONITORS_SHOWN;
  return (
    <Chips>
      {monitors.slice(0, MONITORS_SHOWN).map(({ id, name }) => (
        <a key={id} class="chip" href={monitorPath(id)}>
          {name}
        </a>
      ))}
      {more > 0 ? <span class="note-inline">and {more.toLocaleString("en")} more</span> : null}
    </Chips>
  );
}

function EventChips({ events }: { events: readonly string[] }) {
  return (
    <Chips>
      {events.map((type) => (
        <Chip key={type} isCode>
          {type}
        </Chip>
      ))}
    </Chips>
  );
}

function SecretInForce({ view: { record }, now }: { view: WebhookView; now: number }) {
  const { previousSecret, previousSecretEndsAt: endsAt } = record.row;
  if (previousSecret === null || endsAt === null || endsAt <= now) return <>1 active secret</>;
  return (
    <>
      2 active secrets; the old one stops <RelativeTime at={toIso(endsAt)} now={now} />
    </>
  );
}

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
function NoMonitorsNotice({ row }: { row: WebhookRow }) {
  const { events, monitors } = row;
  const hasMonitorEvents = events.includes(ANY_EVENT) || events.some(isOfMonitors);
  if (monitors.length > 0 || !hasMonitorEvents) return null;
  return (
    <Notice tone="degraded" title="No monitor is selected">
      {isForMonitorsAlone(row)
        ? "This webhook gets no events. It is only for events of selected monitors, and none is selected or left."
        : "This webhook gets no events of monitors. It is for selected ones, and none is selected or left."}{" "}
      <a href={webhookPath(row.id, "edit")}>Edit the webhook</a> to select others, or all monitors.
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
function PausedNotice({
  record: { row, pausedUntil },
  backlog,
}: {
  record: WebhookRecord;
  backlog: Backlog | undefined;
}) {
  const zone = useZone();
  if (pausedUntil === null) return null;
  return (
    <Notice
      tone="degraded"
      title={`Paused by the receiver until ${secondTime(localTime(pausedUntil, zone))}`}
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
function FailingNotice({ row, failure, backlog, now }: FailingNoticeProps) {
  const { failingSince: since } = row;
  if (since === null) return null;
  return (
    <Notice tone="partial" title="This webhook is failing">
      <p>
        {failure === undefined
          ? "Every attempt fails."
          : [reasonOf(failure), adviceFor(failure)].filter(Boolean).join(" ")}{" "}
        Then send a test event, or <a href={webhookPath(row.id, "edit")}>edit the webhook</a>.
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
        <a href={webhookPath(row.id)}>Open webhook</a>
      ) : (
        <PostButton action={webhookPath(row.id, "enable")}>Enable webhook</PostButton>
      )}
    </Notice>
  );
}

interface UnconfirmedNoticeProps {
  row: WebhookRow;
  question: Question;
  now: number;
}

/** Notice of an endpoint whose address has not confirmed that it wants alerts. */
function UnconfirmedNotice({ row, question, now }: UnconfirmedNoticeProps) {
  if (question.state === "refused") {
    return (
      <Notice tone="degraded" title="The address gets no alerts">
        {describeQuestion(question, now)} An owner can end that among the suppressed addresses of
        the mail settings.
      </Notice>
    );
  }
  return (
    <Notice tone="degraded" title="The address has not confirmed yet">
      <p>
        Nothing is sent until the owner of {maskAddress(recipientOf(row.url))} opens a link and
        confirms. {describeQuestion(question, now)}
      </p>
      {question.state === "waiting" ? null : (
        <PostButton action={webhookPath(row.id, "confirmation")}>
          {question.state === "unasked" ? "Mail the link" : "Mail the link again"}
        </PostButton>
      )}
    </Notice>
  );
}

/** Adds the action that mails the link for confirming again. */
export function addConfirmationRoutes(area: Area, { ctx }: AdminDependencies): void {
  area.action("/:id/confirmation", {
    run: (tx, { params }, actor) => requestConfirmation(ctx, tx, params.id, actor),
    done: (dueAt, { params }) => ({
      path: webhookPath(params.id),
      text:
        dueAt === undefined
          ? "No mail was sent. One address gets a link at most every 10 minutes and three a day, all addresses together 20 an hour and 100 a day."
          : "The link will be mailed.",
    }),
  });
}
