import { waitingOf } from "../../features/mailings/lists";
import { toIso } from "../../base/time";
import { Cell, CellNote, ListCard, ListToolbar, Row, RowLink, Table } from "../../ui/list";
import { EmptyState } from "../../ui/blocks";
import { PageHead, Pagination } from "../../ui/navigation";
import { RelativeTime } from "../../ui/times";
import { PageFilter } from "../../ui/frame/page-choice";
import { mailingPath, MAILINGS_PATH } from "../../ui/frame/paths";
import { listPath, NoMatch, NoOlder } from "../../features/timeline/screens/list";
import type { ListedMailing, MailingListing } from "./listing";
import { HeldNotices } from "./notices";
import { audienceOf, eventWords, figure, MailingReason, MailingState, subjectPath } from "./words";

const COLUMNS = [
  { label: "Event" },
  { label: "State" },
  { label: "Audience", isNumeric: true },
  { label: "Sent", isNumeric: true },
  { label: "Waiting", isNumeric: true },
  { label: "Superseded", isNumeric: true },
  { label: "Failed", isNumeric: true },
  { label: "When" },
];

/** `/admin/mailings`: what events sent to the subscribers of pages, newest first. */
export function MailingList({ list, now }: { list: MailingListing; now: number }) {
  const { pages, page, before, mailings, held, nextBefore } = list;
  const filters = { page: page?.slug };
  const isFirstUse = mailings.length === 0 && !page && before === undefined;
  return (
    <>
      <PageHead title="Mailings">
        Mails about incidents, maintenance and components to the subscribers of your pages.
      </PageHead>
      <div class="columns-main" id="mailings" data-live="">
        <HeldNotices held={held} now={now} />
        {isFirstUse ? (
          <EmptyState title="No mailings yet">
            When something happens on a page with subscribers, the mails about it appear here.
          </EmptyState>
        ) : (
          <ListCard>
            {pages.length > 1 ? (
              <ListToolbar
                action={MAILINGS_PATH}
                clearHref={page === undefined ? undefined : MAILINGS_PATH}
              >
                <PageFilter pages={pages} page={page} />
              </ListToolbar>
            ) : null}
            <Content list={list} now={now} />
            <Pagination
              newestHref={before === undefined ? undefined : listPath(MAILINGS_PATH, filters)}
              olderHref={
                nextBefore === undefined
                  ? undefined
                  : listPath(MAILINGS_PATH, { ...filters, before: nextBefore })
              }
            />
          </ListCard>
        )}
      </div>
    </>
  );
}

function Content({ list, now }: { list: MailingListing; now: number }) {
  const { mailings, page, before } = list;
  if (mailings.length > 0) {
    return (
      <Table columns={COLUMNS} caption="Mailings" isInCard>
        {mailings.map((mailing) => (
          <MailingLine key={mailing.row.id} mailing={mailing} list={list} now={now} />
        ))}
      </Table>
    );
  }
  return before === undefined ? (
    <NoMatch title="No mailings of this page" home={MAILINGS_PATH} />
  ) : (
    <NoOlder what="mailings" newest={listPath(MAILINGS_PATH, { page: page?.slug })} />
  );
}

interface LineProps {
  mailing: ListedMailing;
  list: MailingListing;
  now: number;
}

function MailingLine({ mailing: { row, subjectName }, list, now }: LineProps) {
  const { pages, page, hold } = list;
  const pageName = page ? undefined : pages.find(({ id }) => id === row.pageId)?.name;
  const state = { mailing: row, hold, now };
  return (
    <Row isOver={row.state === "stopped"}>
      <Cell>
        <RowLink href={mailingPath(row.id)}>{eventWords(row)}</RowLink>
        <CellNote>
          {subjectName === undefined ? "Deleted" : <a href={subjectPath(row)}>{subjectName}</a>}
          {pages.length > 1 && pageName !== undefined ? ` · ${pageName}` : ""}
        </CellNote>
      </Cell>
      <Cell label="State">
        <MailingState {...state} />
        <CellNote>
          <MailingReason {...state} />
        </CellNote>
      </Cell>
      <Cell label="Audience" isNumeric>
        {audienceOf(row)}
      </Cell>
      <Cell label="Sent" isNumeric>
        {figure(row.sent)}
      </Cell>
      <Cell label="Waiting" isNumeric>
        {figure(waitingOf(row))}
      </Cell>
      <Cell label="Superseded" isNumeric>
        {figure(row.superseded)}
      </Cell>
      <Cell label="Failed" isNumeric>
        {figure(row.failed + row.bounced)}
      </Cell>
      <Cell label="When">
        <RelativeTime at={toIso(row.createdAt)} now={now} />
      </Cell>
    </Row>
  );
}
