import { STATUS_CODES } from "node:http";
import type { Tone } from "../../../base/status";
import { parseJson, plural } from "../../../base/text";
import { DAY_MS, SECOND_MS, toIso } from "../../../base/time";
import { DELIVERY_STATUSES, type DeliveryStatus } from "../../../base/webhook";
import { formBody } from "../../../http/form-body";
import { session } from "../../../http/operation";
import { actorOf, type RequestContext, sessionOf } from "../../../http/request-context";
import { Card, CodeBlock, EmptyState, Facts, Section, SideBySide, State } from "../../../ui/blocks";
import { ButtonLink, PostButton } from "../../../ui/buttons";
import {
  dateTimeField,
  dateTimeProblem,
  parseDateTimeInput,
  type TimeZoneContext,
} from "../../../ui/forms/date-time";
import { defineForm, InvalidInput, keptNotice, type StateOf } from "../../../ui/forms/form";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { webhookPath, WEBHOOKS_PATH, withQuery } from "../../../ui/frame/paths";
import { crumbsTo } from "../../../ui/frame/places";
import type { Screen } from "../../../ui/frame/render";
import {
  Cell,
  CellNote,
  type DataColumn,
  DataTable,
  OneLine,
  Row,
  RowLink,
  Table,
} from "../../../ui/list";
import { PageHead, Pagination, Tabs } from "../../../ui/navigation";
import type { Area } from "../../../ui/screens/area";
import { formScreen } from "../../../ui/screens/form-screen";
import { NoMatch, NoOlder } from "../../../ui/screens/list";
import { KEEPS_TYPED, screenOperation } from "../../../ui/screens/routes";
import { RelativeTime } from "../../../ui/times";
import { findPage } from "../../pages/store";
import { readHeadline } from "../../status/snapshots";
import {
  getDelivery,
  getTries,
  redeliver,
  redeliverFailed,
  type SentRequest,
  sentRequest,
} from "../deliveries";
import type { TryRow } from "../delivery-store";
import type { Failure } from "../health";
import { type DeliveryRecord, getWebhookRecord, webhookName } from "../records";
import { isSuccess } from "../rules";
import type { WebhookRow } from "../store";
import type { WebhookView } from "./read";

interface DeliveryDetailProps {
  row: WebhookRow;
  /** As in `WebhookRecord`. */
  pausedUntil: number | null;
  delivery: DeliveryRecord;
  /** Attempts, oldest first. */
  tries: readonly TryRow[];
  /** Attempt whose response is shown; undefined before the first attempt. */
  shown: TryRow | undefined;
  /** Request as the webhook would send it now; undefined if nothing would be sent. */
  request: SentRequest | undefined;
  now: number;
}

/** One delivery: its request, attempts and responses. */
function DeliveryDetail(props: DeliveryDetailProps) {
  const { row, pausedUntil, delivery, tries, shown, request, now } = props;
  const isMail = row.format === "email";
  const isWaiting = delivery.row.status === "pending";
  return (
    <>
      <PageHead
        title={delivery.eventType}
        crumbs={[
          ...crumbsTo(WEBHOOKS_PATH),
          { href: webhookPath(row.id), label: webhookName(row) },
        ]}
        actions={
          <>
            {isWaiting ? (
              <ButtonLink href={webhookPath(row.id, "deliveries", delivery.row.id)}>
                Refresh
              </ButtonLink>
            ) : null}
            {row.enabled ? (
              <PostButton action={webhookPath(row.id, "deliveries", delivery.row.id, "redeliver")}>
                {isWaiting ? "Send now" : "Redeliver"}
              </PostButton>
            ) : null}
          </>
        }
      />
      <div id="delivery-facts" data-live="">
        <Card>
          <DeliveryFacts delivery={delivery} pausedUntil={pausedUntil} now={now} />
        </Card>
      </div>
      <SideBySide>
        <Card title={isMail ? "Mail" : "Request"}>
          {request ? (
            <CodeBlock
              text={isMail ? mailText(request) : requestText(request, shown)}
              copyLabel="Copy"
            />
          ) : (
            <p>With its current settings, the webhook does not send this event.</p>
          )}
          <p class="muted">
            {isMail
              ? "Shown with the current settings of the webhook: the text, without the HTML part and further headers."
              : "Shown with the current settings of the webhook and formatted for reading. The signature and all secrets are omitted."}
          </p>
        </Card>
        <div id="delivery-response" data-live="">
          <Card title="Response">
            <Answer shown={shown} now={now} />
          </Card>
        </div>
      </SideBySide>
      {tries.length > 1 ? (
        <Section title="Attempts">
          <TryTable tries={tries} shown={shown} webhookId={row.id} now={now} />
        </Section>
      ) : null}
    </>
  );
}

function DeliveryFacts({
  delivery,
  pausedUntil,
  now,
}: Pick<DeliveryDetailProps, "delivery" | "pausedUntil" | "now">) {
  const { row } = delivery;
  const { status, tries, nextTryAt, finishedAt } = row;
  const gathering = describeGathering(delivery);
  return (
    <Facts
      items={[
        { label: "Status", value: <DeliveryState status={status} tries={tries} /> },
        {
          label: "Attempts",
          value: (
            <>
              {tries}
              {nextTryAt === null ? null : (
                <>
                  , <NextTry at={Math.max(nextTryAt, pausedUntil ?? 0)} now={now} />
                </>
              )}
            </>
          ),
        },
        { label: "Queued", value: <RelativeTime at={toIso(row.createdAt)} now={now} /> },
        ...(finishedAt === null
          ? []
          : [
              {
                label: status === "delivered" ? "Delivered" : "Ended",
                value: <RelativeTime at={toIso(finishedAt)} now={now} />,
              },
            ]),
        ...(gathering === undefined ? [] : [{ label: "Message", value: gathering }]),
        { label: "Event id", value: <code>{row.eventId}</code>, isWide: true },
        { label: "Delivery id", value: <code>{row.id}</code>, isWide: true },
      ]}
    />
  );
}

function Answer({ shown, now }: { shown: TryRow | undefined; now: number }) {
  if (!shown) return <p>No attempt yet.</p>;
  const { number, at, latencyMs, answer, statusCode } = shown;
  const advice = isSuccess(statusCode) ? undefined : adviceFor(shown);
  return (
    <>
      <p>
        <span class="strong">{describeFailure(shown)}</span> after {latencyMs.toLocaleString("en")}{" "}
        ms
      </p>
      {advice === undefined ? null : <p>{advice}</p>}
      {answer === null ? (
        <p class="muted">The response has no body.</p>
      ) : (
        <CodeBlock text={answer} copyLabel="Copy" />
      )}
      <p class="muted">
        Attempt {number}, <RelativeTime at={toIso(at)} now={now} />. Only the first 20 KB of a
        response are kept.
      </p>
    </>
  );
}

const TRY_COLUMNS = [
  { label: "Attempt" },
  { label: "When" },
  { label: "Response" },
  { label: "Duration", isNumeric: true },
];

interface TryTableProps {
  /** Attempts, oldest first. */
  tries: readonly TryRow[];
  shown: TryRow | undefined;
  webhookId: string;
  now: number;
}

/** Attempts of a delivery, newest first, each linked to its response. */
function TryTable({ tries, shown, webhookId, now }: TryTableProps) {
  const pathOf = ({ deliveryId, number }: TryRow) =>
    withQuery(webhookPath(webhookId, "deliveries", deliveryId), { try: String(number) });
  return (
    <Table columns={TRY_COLUMNS} caption="Attempts">
      {tries.toReversed().map((one) => (
        <Row key={one.number}>
          <Cell label="Attempt">
            {one.number === shown?.number ? (
              `${one.number}, shown above`
            ) : (
              <RowLink href={pathOf(one)}>{one.number}</RowLink>
            )}
          </Cell>
          <Cell label="When">
            <RelativeTime at={toIso(one.at)} now={now} />
          </Cell>
          <Cell label="Response">{describeFailure(one)}</Cell>
          <Cell label="Duration" isNumeric>
            {`${one.latencyMs.toLocaleString("en")} ms`}
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

/** Returns a mail as readable text: headers and text part. */
function mailText({ headers, body }: SentRequest): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [...lines, "", body].join("\n");
}

/** Returns a request as readable text: request line, headers and formatted body. */
function requestText(
  { method, url, headers, body }: SentRequest,
  shown: TryRow | undefined,
): string {
  const lines = Object.entries({
    ...headers,
    ...(shown ? { "webhook-timestamp": String(Math.floor(shown.at / SECOND_MS)) } : {}),
    "webhook-signature": "v1,…",
  }).map(([name, value]) => `${name}: ${value}`);
  const json = parseJson(body);
  // A body without its secrets may no longer be JSON.
  const readableBody = json === undefined ? body : JSON.stringify(json, undefined, 2);
  return [`${method} ${url}`, ...lines, "", readableBody].join("\n");
}

/** Adds the screen of a delivery, and the actions that send deliveries again. */
export function addDeliveryRoutes(area: Area, deps: AdminDependencies): void {
  const { ctx, flashes, render, writeAs } = deps;

  function rowOf(id: string): WebhookRow {
    return getWebhookRecord(ctx.db, id, ctx.clock.now()).row;
  }

  /** Returns the page whose time zone a form shows: that of the events, if the webhook has one. */
  function contextOf({ pageId }: WebhookRow): TimeZoneContext {
    const page = pageId === null ? undefined : findPage(ctx.db, { id: pageId });
    return { page: page ?? { timeZone: "UTC" } };
  }

  function askSince(row: WebhookRow, state: StateOf<typeof REDELIVER_FORM>): Screen {
    const texts = {
      title: `Redeliver failed deliveries of “${webhookName(row)}”`,
      button: "Redeliver",
      dialog: (
        <p>
          Failed and cancelled deliveries that were queued since this time are sent again, in order.
          Events keep their ids, so receivers can ignore duplicates.
        </p>
      ),
    };
    const action = webhookPath(row.id, "redeliver");
    return formScreen(texts, { form: REDELIVER_FORM, state, action, hasPreview: false });
  }

  /** Queues failed deliveries again, in transactions of bounded size, and returns their number. */
  async function redeliverSince(
    requestContext: RequestContext,
    webhookId: string,
    since: number,
  ): Promise<number> {
    let count = 0;
    let after: string | undefined;
    do {
      // Each transaction continues where the one before ended.
      // oxlint-disable-next-line no-await-in-loop
      const part = await writeAs(requestContext, (tx) =>
        redeliverFailed(ctx, tx, { webhookId, since, after }, actorOf(requestContext)),
      );
      count += part.count;
      after = part.next;
    } while (after !== undefined);
    return count;
  }

  area.screen("/:id/redeliver", (at) => {
    const row = rowOf(at.params.id);
    if (!row.enabled) return { path: webhookPath(row.id) };
    const values = REDELIVER_FORM.stored({ since: toIso(ctx.clock.now() - DAY_MS) });
    return askSince(row, REDELIVER_FORM.state(values, contextOf(row)));
  });

  // The action takes several transactions, which no helper does.
  area.routes.post(
    "/:id/redeliver",
    async ({ request, requestContext, params: { id }, body: sent }) => {
      const values = REDELIVER_FORM.read(sent);
      const row = rowOf(id);
      const context = contextOf(row);
      const kept = keptNotice(sent);
      if (kept !== undefined) {
        const state = { ...REDELIVER_FORM.state(values, context), kept };
        return render.screen({ request, requestContext }, askSince(row, state));
      }
      const { body, errors } = REDELIVER_FORM.parse(values, context);
      if (errors.length > 0) {
        const shown = REDELIVER_FORM.errorsByInput(errors, values);
        const state = { ...REDELIVER_FORM.state(values, context), errors: shown };
        const screen = { ...askSince(row, state), status: 422 };
        return render.screen({ request, requestContext }, screen);
      }
      const count = await redeliverSince(requestContext, id, Date.parse(body.since));
      const text =
        count === 0 ? undefined : `${plural(count, "event")} will be sent again, in order.`;
      return flashes.redirect(sessionOf(requestContext).id, webhookPath(id), text);
    },
    {
      ...formBody(),
      ...screenOperation(session("admin"), KEEPS_TYPED),
    },
  );

  area.screen("/:id/deliveries/:delivery_id", ({ params, query, requestContext: { now } }) => {
    const { row, pausedUntil } = getWebhookRecord(ctx.db, params.id, now);
    const delivery = getDelivery(ctx.db, row.id, params.delivery_id);
    const tries = getTries(ctx.db, delivery.row.id);
    const shown = tries.find(({ number }) => String(number) === query["try"]) ?? tries.at(-1);
    const request = sentRequest(ctx, delivery.row.id, readHeadline);
    return {
      title: `${delivery.eventType} to “${webhookName(row)}”`,
      children: <DeliveryDetail {...{ row, pausedUntil, delivery, tries, shown, request, now }} />,
    };
  });

  area.action("/:id/deliveries/:delivery_id/redeliver", {
    run: (tx, { params }, actor) => redeliver(ctx, tx, params.id, params.delivery_id, actor),
    done: ({ row }, { params }) => ({
      path: webhookPath(params.id, "deliveries", row.id),
      text: "The event was queued to be sent again.",
    }),
  });
}

const STATUS_LOOKS: Readonly<Record<DeliveryStatus, { label: string; tone: Tone }>> = {
  pending: { label: "Pending", tone: "none" },
  delivered: { label: "Delivered", tone: "ok" },
  failed: { label: "Failed", tone: "major" },
  cancelled: { label: "Cancelled", tone: "none" },
  superseded: { label: "Superseded", tone: "none" },
};

interface DeliveryProgress {
  status: DeliveryStatus;
  tries: number;
}

/** Returns the tone of a delivery. A pending one with failed attempts has the tone of a retry. */
export function toneOfDelivery({ status, tries }: DeliveryProgress): Tone {
  return status === "pending" && tries > 0 ? "degraded" : STATUS_LOOKS[status].tone;
}

function DeliveryState(delivery: DeliveryProgress) {
  return <State tone={toneOfDelivery(delivery)}>{STATUS_LOOKS[delivery.status].label}</State>;
}

/** Deliveries of an endpoint, newest first, with filters by status. */
export function DeliveryList({ view, now }: { view: WebhookView; now: number }) {
  const { record, deliveries, status, nextBefore, isContinued } = view;
  return (
    <>
      <Tabs
        label="Deliveries by status"
        items={[
          { href: webhookPath(record.row.id), label: "All", isCurrent: status === undefined },
          ...DELIVERY_STATUSES.map((one) => ({
            href: withQuery(webhookPath(record.row.id), { show: one }),
            label: STATUS_LOOKS[one].label,
            isCurrent: one === status,
          })),
        ]}
      />
      {deliveries.length > 0 ? (
        <DataTable
          caption="Deliveries"
          columns={columnsOf({ pausedUntil: record.pausedUntil, now })}
          entries={deliveries}
        />
      ) : (
        <NoDeliveries view={view} />
      )}
      <Pagination
        newestHref={
          isContinued ? withQuery(webhookPath(record.row.id), { show: status }) : undefined
        }
        olderHref={
          nextBefore === undefined
            ? undefined
            : withQuery(webhookPath(record.row.id), { show: status, before: nextBefore })
        }
      />
    </>
  );
}

/** Describes how a delivery about a monitor is sent with others; undefined if it is sent by itself. */
function describeGathering({ row, sentWith }: DeliveryRecord): string | undefined {
  if (row.gathers && row.status === "pending") return "Waits for others";
  if (sentWith === 0) return undefined;
  const others = plural(sentWith, "other");
  return row.status === "pending" ? `Together with ${others}` : `Sent with ${others}`;
}

interface ListContext {
  /** As in `WebhookRecord`. */
  pausedUntil: number | null;
  now: number;
}

function columnsOf({ pausedUntil, now }: ListContext): DataColumn<DeliveryRecord>[] {
  return [
    {
      label: "Event",
      cell(delivery) {
        const { id, webhookId } = delivery.row;
        const gathering = describeGathering(delivery);
        return (
          <>
            <RowLink href={webhookPath(webhookId, "deliveries", id)}>{delivery.eventType}</RowLink>
            {gathering === undefined ? null : <CellNote>{gathering}</CellNote>}
          </>
        );
      },
    },
    {
      label: "Status",
      cell: ({ row: { status, tries } }) => <DeliveryState status={status} tries={tries} />,
    },
    {
      label: "Attempts",
      cell: ({ row: { tries, nextTryAt } }) => (
        <>
          {tries}
          {nextTryAt === null ? null : (
            <CellNote>
              <OneLine>
                <NextTry at={Math.max(nextTryAt, pausedUntil ?? 0)} now={now} />
              </OneLine>
            </CellNote>
          )}
        </>
      ),
    },
    {
      label: "Last response",
      cell: ({ lastTry }) =>
        lastTry ? (
          <>
            {describeFailure(lastTry)}
            <CellNote>{`${lastTry.latencyMs.toLocaleString("en")} ms`}</CellNote>
          </>
        ) : (
          <span class="quiet-text">None</span>
        ),
    },
    {
      label: "Queued",
      cell: ({ row: { createdAt } }) => <RelativeTime at={toIso(createdAt)} now={now} />,
    },
  ];
}

/** Time of the next attempt; `at` is in unix ms. */
export function NextTry({ at, now }: { at: number; now: number }) {
  if (at <= now) return <>due now</>;
  return (
    <>
      next <RelativeTime at={toIso(at)} now={now} />
    </>
  );
}

function NoDeliveries({ view: { record, status, isContinued } }: { view: WebhookView }) {
  if (status === undefined && !isContinued) {
    return (
      <EmptyState title="No deliveries yet">
        Each event that is sent to this webhook appears here, with its request, attempts and
        responses.
      </EmptyState>
    );
  }
  return isContinued ? (
    <NoOlder what="deliveries" newest={withQuery(webhookPath(record.row.id), { show: status })} />
  ) : (
    <NoMatch title="No deliveries match this filter" home={webhookPath(record.row.id)} />
  );
}

type FailureCause = Omit<Failure, "at">;

/** Returns the response of an attempt as text: "503 Service Unavailable", or the reason for a missing response. */
export function describeFailure({ statusCode, error }: FailureCause): string {
  return error ?? (statusCode === null ? "No response" : nameOf(statusCode));
}

/** Returns the reason of a failed attempt as a sentence. */
export function reasonOf({ statusCode, error }: FailureCause): string {
  // A mail relay's reply has a code and words.
  if (statusCode !== null && error !== null)
    return `The mail relay answered: ${error}`.replace(/(?<!\.)$/, ".");
  if (statusCode !== null) return `The endpoint answered ${nameOf(statusCode)}.`;
  return error === null ? "The endpoint did not answer." : error.replace(/(?<!\.)$/, ".");
}

/** Returns the next step after a failed attempt as a sentence; undefined if the reason itself names one. */
export function adviceFor({ statusCode, error }: FailureCause): string | undefined {
  if (statusCode !== null && error !== null) return CHECK_ADDRESS;
  if (statusCode !== null) return adviceForStatus(statusCode);
  if (error === null) return CHECK_RECEIVER;
  return ADVICE_BY_REASON.find(([reason]) => reason.test(error))?.[1];
}

function nameOf(statusCode: number): string {
  if (statusCode === ACCEPTED_BY_RELAY) return `${statusCode} Accepted by the relay`;
  const phrase = STATUS_CODES[statusCode];
  return phrase === undefined ? `status ${statusCode}` : `${statusCode} ${phrase}`;
}

const CHECK_RECEIVER =
  "Check that the receiver runs, and that this server can reach the host and port of the URL.";

/** Reply of a mail relay that took a mail. */
const ACCEPTED_BY_RELAY = 250;

const CHECK_ADDRESS = "Check the address, and the log of the mail relay.";

const CHECK_HOST = "Check the host in the URL.";

const READ_RESPONSE = "Open a delivery to read the response, which may give the reason.";

function adviceForStatus(statusCode: number): string {
  if (statusCode >= 300 && statusCode < 400) {
    return "Redirects are not followed, so enter the final URL.";
  }
  switch (statusCode) {
    case 401:
    case 403:
      return "Check the URL, and the token or password if the webhook has one.";
    case 404:
    case 405:
      return "Check the path in the URL.";
    case 410:
      return "The receiver accepts no more events: enter another URL, or delete the webhook.";
    case 413:
      return "Allow requests of 20 KB on the receiver.";
    case 429:
      return "The receiver limits requests: raise its limit, or select fewer events.";
    default:
      return statusCode >= 500 ? "Check the log of the receiver." : READ_RESPONSE;
  }
}

/** Advice by the messages of outgoing requests. A message with its own advice has no entry. */
const ADVICE_BY_REASON: readonly [RegExp, string][] = [
  [
    /certificate|TLS/,
    "Renew or correct the certificate of the receiver, or check the host in the URL.",
  ],
  [/^The (name|host has no|host is neither)/, CHECK_HOST],
  [/^Timed out/, "The receiver must answer within 15 seconds. Check that the receiver runs."],
  [/^The (connection|host did not answer)|no route|does not allow/, CHECK_RECEIVER],
  [
    /^The message could not be written/,
    "Check the settings of the webhook, and the log of this server.",
  ],
];

/** Form for the time from which failed deliveries are sent again. */
const REDELIVER_FORM = defineForm<{ since: string }, TimeZoneContext>()({
  since: {
    ...dateTimeField({ label: "Queued since", isRequired: true }),
    // No service validates this time.
    toBody: (typed) =>
      parseDateTimeInput(typed) ?? new InvalidInput(dateTimeProblem(typed) ?? "is empty"),
  },
});
