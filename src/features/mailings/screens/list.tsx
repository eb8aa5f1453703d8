import type { MailHold } from "../../../base/mail-address";
import { plural } from "../../../base/text";
import { DAY_MS, toIso } from "../../../base/time";
import type { Reader } from "../../../db/statements";
import { EmptyState, Notice } from "../../../ui/blocks";
import { PostButton } from "../../../ui/buttons";
import { PageFilter, readPages } from "../../../ui/frame/page-choice";
import { mailingPath, MAILINGS_PATH, withQuery } from "../../../ui/frame/paths";
import {
  CellNote,
  type DataColumn,
  DataTable,
  ListCard,
  ListToolbar,
  RowLink,
} from "../../../ui/list";
import { PageHead, Pagination } from "../../../ui/navigation";
import { type ListQuery, NoMatch, NoOlder, readListQuery } from "../../../ui/screens/list";
import { RelativeTime } from "../../../ui/times";
import { findMailHold, listMailHolds, suppressionsOfHold } from "../../mail/hold";
import { listMailings, nameOfSubject, waitingOf } from "../lists";
import { limitsInWords } from "../rules";
import { countHeldByPage, type MailingRow } from "../store";
import {
  audienceOf,
  eventWords,
  figure,
  GO_ON_PATH,
  MailingReason,
  MailingState,
  releaseOfPagePath,
  subjectPath,
  suppressionsPath,
} from "./words";

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
              newestHref={before === undefined ? undefined : withQuery(MAILINGS_PATH, filters)}
              olderHref={
                nextBefore === undefined
                  ? undefined
                  : withQuery(MAILINGS_PATH, { ...filters, before: nextBefore })
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
      <DataTable
        caption="Mailings"
        isInCard
        columns={columnsOf(list, now)}
        entries={mailings}
        isOver={({ row }) => row.state === "stopped"}
      />
    );
  }
  return before === undefined ? (
    <NoMatch title="No mailings of this page" home={MAILINGS_PATH} />
  ) : (
    <NoOlder what="mailings" newest={withQuery(MAILINGS_PATH, { page: page?.slug })} />
  );
}

function columnsOf(list: MailingListing, now: number): DataColumn<ListedMailing>[] {
  const { pages, page, hold } = list;
  const figures: [string, (row: MailingRow) => string][] = [
    ["Audience", audienceOf],
    ["Sent", ({ sent }) => figure(sent)],
    ["Waiting", (row) => figure(waitingOf(row))],
    ["Superseded", ({ superseded }) => figure(superseded)],
    ["Failed", ({ failed, bounced }) => figure(failed + bounced)],
  ];
  return [
    {
      label: "Event",
      cell({ row, subjectName }) {
        const pageName = page ? undefined : pages.find(({ id }) => id === row.pageId)?.name;
        return (
          <>
            <RowLink href={mailingPath(row.id)}>{eventWords(row)}</RowLink>
            <CellNote>
              {subjectName === undefined ? "Deleted" : <a href={subjectPath(row)}>{subjectName}</a>}
              {pages.length > 1 && pageName !== undefined ? ` · ${pageName}` : ""}
            </CellNote>
          </>
        );
      },
    },
    {
      label: "State",
      cell: ({ row: mailing }) => (
        <>
          <MailingState {...{ mailing, hold, now }} />
          <CellNote>
            <MailingReason {...{ mailing, hold, now }} />
          </CellNote>
        </>
      ),
    },
    ...figures.map(([label, textOf]) => ({
      label,
      isNumeric: true,
      cell: ({ row }: ListedMailing) => textOf(row),
    })),
    {
      label: "When",
      cell: ({ row: { createdAt } }) => <RelativeTime at={toIso(createdAt)} now={now} />,
    },
  ];
}

const PAGE_SIZE = 50;

/** Mailing with the name of the object that it is about; undefined once that is deleted. */
export interface ListedMailing {
  row: MailingRow;
  subjectName: string | undefined;
}

/** Content of one screen of the list of mailings. */
interface MailingListing extends ListQuery {
  mailings: readonly ListedMailing[];
  hold: MailHold | undefined;
  held: HeldMailings;
  /** Id of the last mailing if older ones follow. */
  nextBefore: string | undefined;
}

/** Reads the mailings for a query. Invalid parameters are ignored. `now` is in unix ms. */
export function readMailingList(
  reader: Reader,
  query: Readonly<Record<string, string | undefined>>,
  now: number,
): MailingListing {
  const { pages, page, before } = readListQuery(reader, query);
  const rows = listMailings(reader, { pageId: page?.id, before, limit: PAGE_SIZE + 1 });
  const shown = rows.slice(0, PAGE_SIZE);
  const held = { ...readHeldMailings(reader), undoable: readUndoable(reader, now) };
  return {
    pages,
    page,
    before,
    mailings: shown.map((row) => ({ row, subjectName: nameOfSubject(reader, row) })),
    hold: held.hold,
    held,
    nextBefore: rows.length > PAGE_SIZE ? shown.at(-1)?.id : undefined,
  };
}

/** Time after the end of a hold in which its suppressions are listed. */
const OFFERED_FOR_MS = 30 * DAY_MS;

/** Mailings that wait for an admin. */
export interface HeldMailings {
  /** Hold of all mailings; undefined if they are sent. */
  hold: MailHold | undefined;
  /** Holds with suppressions that an admin can end, newest first. */
  undoable: readonly { hold: MailHold; count: number }[];
  pages: readonly { id: string; name: string; slug: string; count: number }[];
}

export const NOTHING_HELD: HeldMailings = { hold: undefined, undoable: [], pages: [] };

/** Reads what waits for an admin, without suppressions. */
export function readHeldMailings(reader: Reader): HeldMailings {
  const names = new Map(readPages(reader).map((page) => [page.id, page]));
  return {
    hold: findMailHold(reader),
    undoable: [],
    pages: countHeldByPage(reader, {}).flatMap(({ pageId, count }) => {
      const page = names.get(pageId);
      return page ? [{ id: page.id, name: page.name, slug: page.slug, count }] : [];
    }),
  };
}

/** Reads the holds with suppressions that an admin can end, newest first. `now` is in unix ms. */
function readUndoable(reader: Reader, now: number): HeldMailings["undoable"] {
  const offered = listMailHolds(reader).filter(
    ({ reason, endedAt }) =>
      reason === "failures" && (endedAt === null || now - endedAt < OFFERED_FOR_MS),
  );
  return offered
    .map((hold) => ({ hold, count: suppressionsOfHold(reader, hold, now).length }))
    .filter(({ count }) => count > 0)
    .toReversed();
}

/** Notices about held mailings, with the buttons that release them. */
export function HeldNotices({ held, now }: { held: HeldMailings; now: number }) {
  const { hold, undoable, pages } = held;
  return (
    <>
      {hold ? <HoldNotice hold={hold} now={now} /> : null}
      {undoable.map(({ hold: one, count }) => (
        <Notice key={one.at} tone="degraded" title={`${countAddresses(count)} suppressed`}>
          {count === 1 ? "It gets" : "They get"} no more mail, since mails to{" "}
          {count === 1 ? "it" : "them"} failed when mailings were held{" "}
          <RelativeTime at={toIso(one.at)} now={now} />. If the relay was at fault,{" "}
          <a href={suppressionsPath(one.at)}>end the suppressions</a>.
        </Notice>
      ))}
      {pages.map(({ id, name, slug, count }) => (
        <Notice key={id} tone="degraded" title={`${plural(count, "mailing")} of ${name} held`}>
          <p>
            In 24 hours a page sends at most {limitsInWords()} without an admin. Release the others,
            or <a href={`${MAILINGS_PATH}?page=${encodeURIComponent(slug)}`}>stop single ones</a>.
          </p>
          <PostButton action={releaseOfPagePath(id)}>
            Release {count === 1 ? "mailing" : "mailings"}
          </PostButton>
        </Notice>
      ))}
    </>
  );
}

function HoldNotice({ hold, now }: { hold: MailHold; now: number }) {
  const since = <RelativeTime at={toIso(hold.at)} now={now} />;
  return (
    <Notice tone="major" title="All mailings are held">
      {hold.reason === "failures" ? (
        <p>
          Since {since}: more than 20 of the last 100 mails failed. Look at the{" "}
          <a href={MAILINGS_PATH}>relay&apos;s replies</a>, then release them. All other mail is
          sent.
        </p>
      ) : (
        <p>
          Since {since}: a backup was restored, and it is not known who unsubscribed after it was
          made. Once released, mailings also go to these people. All other mail is sent.
        </p>
      )}
      <PostButton action={GO_ON_PATH}>Release all mailings</PostButton>
    </Notice>
  );
}

/** Returns a number of addresses with its noun. */
export function countAddresses(count: number): string {
  return count === 1 ? "1 address" : `${figure(count)} addresses`;
}
