import type { DeliveryRecord } from "../../features/webhooks/deliveries";
import type { Tone } from "../../base/status";
import { plural } from "../../base/text";
import { toIso } from "../../base/time";
import { DELIVERY_STATUSES, type DeliveryStatus } from "../../base/webhook";
import { Cell, CellNote, OneLine, Row, RowLink, Table } from "../../ui/list";
import { EmptyState, State } from "../../ui/blocks";
import { RelativeTime } from "../../ui/times";
import { Pagination, Tabs } from "../../ui/navigation";
import { NoMatch, NoOlder } from "../../features/timeline/screens/list";
import { describeFailure } from "./failure-words";
import { pathsOfWebhook } from "./webhook-paths";
import type { WebhookView } from "./read";

const STATUS_LOOKS: Readonly<Record<DeliveryStatus, { label: string; tone: Tone }>> = {
  pending: { label: "Pending", tone: "none" },
  delivered: { label: "Delivered", tone: "ok" },
  failed: { label: "Failed", tone: "major" },
  cancelled: { label: "Cancelled", tone: "none" },
  superseded: { label: "Superseded", tone: "none" },
};

const LIST_COLUMNS = [
  { label: "Event" },
  { label: "Status" },
  { label: "Attempts" },
  { label: "Last response" },
  { label: "Queued" },
];

interface DeliveryProgress {
  status: DeliveryStatus;
  tries: number;
}

/** Returns the tone of a delivery. A pending one with failed attempts has the tone of a retry. */
export function toneOfDelivery({ status, tries }: DeliveryProgress): Tone {
  return status === "pending" && tries > 0 ? "degraded" : STATUS_LOOKS[status].tone;
}

export function DeliveryState(delivery: DeliveryProgress) {
  return <State tone={toneOfDelivery(delivery)}>{STATUS_LOOKS[delivery.status].label}</State>;
}

/** Deliveries of an endpoint, newest first, with filters by status. */
export function DeliveryList({ view, now }: { view: WebhookView; now: number }) {
  const { record, deliveries, status, nextBefore, isContinued } = view;
  const paths = pathsOfWebhook(record.row.id);
  const shown = status === undefined ? {} : { status };
  return (
    <>
      <Tabs
        label="Deliveries by status"
        items={[
          { href: paths.deliveries({}), label: "All", isCurrent: status === undefined },
          ...DELIVERY_STATUSES.map((one) => ({
            href: paths.deliveries({ status: one }),
            label: STATUS_LOOKS[one].label,
            isCurrent: one === status,
          })),
        ]}
      />
      {deliveries.length > 0 ? (
        <Table columns={LIST_COLUMNS} caption="Deliveries">
          {deliveries.map((delivery) => (
            <DeliveryLine
              key={delivery.row.id}
              delivery={delivery}
              pausedUntil={record.pausedUntil}
              now={now}
            />
          ))}
        </Table>
      ) : (
        <NoDeliveries view={view} />
      )}
      <Pagination
        newestHref={isContinued ? paths.deliveries(shown) : undefined}
        olderHref={
          nextBefore === undefined ? undefined : paths.deliveries({ ...shown, before: nextBefore })
        }
      />
    </>
  );
}

/** Describes how a delivery about a monitor is sent with others; undefined if it is sent by itself. */
export function describeGathering({ row, sentWith }: DeliveryRecord): string | undefined {
  if (row.gathers && row.status === "pending") return "Waits for others";
  if (sentWith === 0) return undefined;
  const others = plural(sentWith, "other");
  return row.status === "pending" ? `Together with ${others}` : `Sent with ${others}`;
}

interface DeliveryLineProps {
  delivery: DeliveryRecord;
  /** As in `WebhookRecord`. */
  pausedUntil: number | null;
  now: number;
}

function DeliveryLine({ delivery, pausedUntil, now }: DeliveryLineProps) {
  const { row, eventType, lastTry } = delivery;
  const gathering = describeGathering(delivery);
  return (
    <Row>
      <Cell>
        <RowLink href={pathsOfWebhook(row.webhookId).delivery(row.id)}>{eventType}</RowLink>
        {gathering === undefined ? null : <CellNote>{gathering}</CellNote>}
      </Cell>
      <Cell label="Status">
        <DeliveryState status={row.status} tries={row.tries} />
      </Cell>
      <Cell label="Attempts">
        {row.tries}
        {row.nextTryAt === null ? null : (
          <CellNote>
            <OneLine>
              <NextTry at={Math.max(row.nextTryAt, pausedUntil ?? 0)} now={now} />
            </OneLine>
          </CellNote>
        )}
      </Cell>
      <Cell label="Last response">
        {lastTry ? (
          <>
            {describeFailure(lastTry)}
            <CellNote>{`${lastTry.latencyMs.toLocaleString("en")} ms`}</CellNote>
          </>
        ) : (
          <span class="quiet-text">None</span>
        )}
      </Cell>
      <Cell label="Queued">
        <RelativeTime at={toIso(row.createdAt)} now={now} />
      </Cell>
    </Row>
  );
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
  const paths = pathsOfWebhook(record.row.id);
  if (status === undefined && !isContinued) {
    return (
      <EmptyState title="No deliveries yet">
        Each event that is sent to this webhook appears here, with its request, attempts and
        responses.
      </EmptyState>
    );
  }
  return isContinued ? (
    <NoOlder what="deliveries" newest={paths.deliveries(status === undefined ? {} : { status })} />
  ) : (
    <NoMatch title="No deliveries match this filter" home={paths.home} />
  );
}
