import { plural } from "../../../base/text";
import { ANY_EVENT } from "../../../base/webhook";
import { EmptyState } from "../../../ui/blocks";
import { ButtonLink } from "../../../ui/buttons";
import { pagePath, WEBHOOKS_PATH } from "../../../ui/frame/paths";
import { Icon } from "../../../ui/icons";
import { Cell, CellNote, OneLine, Row, RowLink, Table } from "../../../ui/list";
import { PageHead, Pagination } from "../../../ui/navigation";
import { NoOlder } from "../../../ui/screens/list";
import { webhookName } from "../records";
import { FORMATS } from "../formats";
import type { WebhookRow } from "../store";
import { DisabledNotice, LastError, SuccessRate, Waiting, WebhookState } from "./detail";
import { type ListedWebhook, NEW_WEBHOOK_PATH, pathsOfWebhook, type WebhookListing } from "./read";

const COLUMNS = [
  { label: "Webhook" },
  { label: "Events" },
  { label: "State" },
  { label: "Succeeded, 24 h" },
  { label: "Pending" },
  { label: "Last error" },
];

/** Settings → Webhooks. */
export function WebhookList({ list, now }: { list: WebhookListing; now: number }) {
  const { webhooks, nextBefore, isContinued } = list;
  const isFirstUse = webhooks.length === 0 && !isContinued;
  return (
    <>
      <PageHead title="Webhooks" actions={isFirstUse ? undefined : <CreateLink />}>
        Endpoints that receive events: your programs, or channels such as Slack.
      </PageHead>
      {webhooks
        .filter(({ record: { row } }) => row.disabledReason !== null)
        .map(({ record: { row } }) => (
          <DisabledNotice key={row.id} row={row} now={now} isLink />
        ))}
      {webhooks.length > 0 ? (
        <Table columns={COLUMNS} caption="Webhooks">
          {webhooks.map((webhook) => (
            <WebhookLine key={webhook.record.row.id} webhook={webhook} list={list} now={now} />
          ))}
        </Table>
      ) : isFirstUse ? (
        <EmptyState title="No webhooks yet" action={<CreateLink />}>
          A webhook sends events of incidents, maintenance, components and monitors to your program,
          or to a channel in Slack, Discord, Teams or Telegram.
        </EmptyState>
      ) : (
        <NoOlder what="webhooks" newest={WEBHOOKS_PATH} />
      )}
      <Pagination
        newestHref={isContinued ? WEBHOOKS_PATH : undefined}
        olderHref={
          nextBefore === undefined
            ? undefined
            : `${WEBHOOKS_PATH}?before=${encodeURIComponent(nextBefore)}`
        }
      />
    </>
  );
}

function CreateLink() {
  return (
    <ButtonLink href={NEW_WEBHOOK_PATH} kind="primary">
      <Icon name="plus" />
      Create webhook
    </ButtonLink>
  );
}

interface WebhookLineProps {
  webhook: ListedWebhook;
  list: WebhookListing;
  now: number;
}

function WebhookLine({ webhook, list, now }: WebhookLineProps) {
  const { record, backlog, failure } = webhook;
  const { row } = record;
  return (
    <Row isOver={!row.enabled}>
      <Cell>
        <RowLink href={pathsOfWebhook(row.id).home}>{webhookName(row)}</RowLink>
        <CellNote>{FORMATS[row.format].label}</CellNote>
      </Cell>
      <Cell label="Events">
        <OneLine>{describeEvents(row)}</OneLine>
        {row.pageId === null ? null : (
          <CellNote>
            <a href={pagePath(row.pageId)}>{pageNameOf(row.pageId, list)}</a>
          </CellNote>
        )}
      </Cell>
      <Cell label="State">
        <WebhookState record={record} />
      </Cell>
      <Cell label="Succeeded, 24 h">
        <SuccessRate rate={record.successRate} />
      </Cell>
      <Cell label="Pending">
        <Waiting backlog={backlog} now={now} />
      </Cell>
      <Cell label="Last error">
        <LastError failure={failure} now={now} />
      </Cell>
    </Row>
  );
}

/** Returns "All events", or the number of event types. */
function describeEvents({ events }: WebhookRow): string {
  return events.includes(ANY_EVENT) ? "All events" : plural(events.length, "event");
}

function pageNameOf(id: string, { pages }: WebhookListing): string {
  return pages.find((page) => page.id === id)?.name ?? id;
}
