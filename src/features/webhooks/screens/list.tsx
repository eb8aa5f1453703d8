import { plural } from "../../../base/text";
import { ANY_EVENT } from "../../../base/webhook";
import { EmptyState } from "../../../ui/blocks";
import { ButtonLink } from "../../../ui/buttons";
import { NEW_WEBHOOK_PATH, pagePath, webhookPath, WEBHOOKS_PATH } from "../../../ui/frame/paths";
import { Icon } from "../../../ui/icons";
import { CellNote, type DataColumn, DataTable, OneLine, RowLink } from "../../../ui/list";
import { PageHead, Pagination } from "../../../ui/navigation";
import { NoOlder } from "../../../ui/screens/list";
import { FORMATS } from "../formats/index";
import { webhookName } from "../records";
import type { WebhookRow } from "../store";
import { DisabledNotice, LastError, SuccessRate, Waiting, WebhookState } from "./detail";
import type { ListedWebhook, WebhookListing } from "./read";

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
        <DataTable
          caption="Webhooks"
          columns={columnsOf(list, now)}
          entries={webhooks}
          isOver={({ record: { row } }) => !row.enabled}
        />
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

function columnsOf(list: WebhookListing, now: number): DataColumn<ListedWebhook>[] {
  return [
    {
      label: "Webhook",
      cell: ({ record: { row } }) => (
        <>
          <RowLink href={webhookPath(row.id)}>{webhookName(row)}</RowLink>
          <CellNote>{FORMATS[row.format].label}</CellNote>
        </>
      ),
    },
    {
      label: "Events",
      cell: ({ record: { row } }) => (
        <>
          <OneLine>{describeEvents(row)}</OneLine>
          {row.pageId === null ? null : (
            <CellNote>
              <a href={pagePath(row.pageId)}>{pageNameOf(row.pageId, list)}</a>
            </CellNote>
          )}
        </>
      ),
    },
    { label: "State", cell: ({ record }) => <WebhookState record={record} /> },
    {
      label: "Succeeded, 24 h",
      cell: ({ record }) => <SuccessRate rate={record.successRate} />,
    },
    { label: "Pending", cell: ({ backlog }) => <Waiting backlog={backlog} now={now} /> },
    { label: "Last error", cell: ({ failure }) => <LastError failure={failure} now={now} /> },
  ];
}

/** Returns "All events", or the number of event types. */
function describeEvents({ events }: WebhookRow): string {
  return events.includes(ANY_EVENT) ? "All events" : plural(events.length, "event");
}

function pageNameOf(id: string, { pages }: WebhookListing): string {
  return pages.find((page) => page.id === id)?.name ?? id;
}
