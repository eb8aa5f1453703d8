import type { DeliveryRecord, SentRequest } from "../../features/webhooks/deliveries";
import { isSuccess } from "../../features/webhooks/rules";
import type { TryRow } from "../../features/webhooks/delivery-store";
import { webhookName } from "../../features/webhooks/changes";
import type { WebhookRow } from "../../features/webhooks/store";
import { parseJson } from "../../base/text";
import { SECOND_MS, toIso } from "../../base/time";
import { ButtonLink, PostButton } from "../../ui/buttons";
import { Card, CodeBlock, Facts, Section, SideBySide } from "../../ui/blocks";
import { Cell, Row, RowLink, Table } from "../../ui/list";
import { PageHead } from "../../ui/navigation";
import { RelativeTime } from "../../ui/times";
import { WEBHOOKS_PATH } from "../../ui/frame/paths";
import { DeliveryState, describeGathering, NextTry } from "./deliveries";
import { adviceFor, describeFailure } from "./failure-words";
import { pathsOfWebhook } from "./webhook-paths";

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
export function DeliveryDetail(props: DeliveryDetailProps) {
  const { row, pausedUntil, delivery, tries, shown, request, now } = props;
  const paths = pathsOfWebhook(row.id);
  const isMail = row.format === "email";
  const isWaiting = delivery.row.status === "pending";
  return (
    <>
      <PageHead
        title={delivery.eventType}
        crumbs={[
          { href: WEBHOOKS_PATH, label: "Webhooks" },
          { href: paths.home, label: webhookName(row) },
        ]}
        actions={
          <>
            {isWaiting ? (
              <ButtonLink href={paths.delivery(delivery.row.id)}>Refresh</ButtonLink>
            ) : null}
            {row.enabled ? (
              <PostButton action={paths.sendAgain(delivery.row.id)}>
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

const COLUMNS = [
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
  const { delivery } = pathsOfWebhook(webhookId);
  return (
    <Table columns={COLUMNS} caption="Attempts">
      {tries.toReversed().map((one) => (
        <Row key={one.number}>
          <Cell label="Attempt">
            {one.number === shown?.number ? (
              `${one.number}, shown above`
            ) : (
              <RowLink href={delivery(one.deliveryId, one.number)}>{one.number}</RowLink>
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
function requestText({ url, headers, body }: SentRequest, shown: TryRow | undefined): string {
  const lines = Object.entries({
    ...headers,
    ...(shown ? { "webhook-timestamp": String(Math.floor(shown.at / SECOND_MS)) } : {}),
    "webhook-signature": "v1,…",
  }).map(([name, value]) => `${name}: ${value}`);
  const json = parseJson(body);
  // A body without its secrets may no longer be JSON.
  const readableBody = json === undefined ? body : JSON.stringify(json, undefined, 2);
  return [`POST ${url}`, ...lines, "", readableBody].join("\n");
}
