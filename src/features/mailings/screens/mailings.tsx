/*
 * Mailings: the list, one mailing, and what an admin decides about mails that are held back.
 */
import { conflict, notFound } from "../../../base/errors";
import type { MailHold } from "../../../base/mail-address";
import { plural } from "../../../base/text";
import { DAY_MS, toIso } from "../../../base/time";
import type { Reader } from "../../../db/statements";
import { Columns, EmptyState, Facts, FormNotice, Notice } from "../../../ui/blocks";
import { Button, ButtonLink, PostButton } from "../../../ui/buttons";
import { CheckboxList } from "../../../ui/choices";
import { DetailCard, Numbers } from "../../../ui/detail";
import { Actions, Form } from "../../../ui/form";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { PageFilter, readPages } from "../../../ui/frame/page-choice";
import { mailingPath, MAILINGS_PATH, pagePath, withQuery } from "../../../ui/frame/paths";
import { crumbsAbove, crumbsTo } from "../../../ui/frame/places";
import type { Screen } from "../../../ui/frame/render";
import { REASON_CAUSES } from "../../../ui/frame/suppression-words";
import {
  CellNote,
  type DataColumn,
  DataTable,
  ListCard,
  ListToolbar,
  OrderSelect,
  RowLink,
  type Sorting,
} from "../../../ui/list";
import { PageHead, Pagination } from "../../../ui/navigation";
import { createArea } from "../../../ui/screens/area";
import { type ListQuery, NoMatch, NoOlder, readListQuery } from "../../../ui/screens/list";
import { RelativeTime } from "../../../ui/times";
import {
  findMailHold,
  listMailHolds,
  releaseAllMailings,
  suppressionsOfHold,
  undoSuppressions,
} from "../../mail/hold";
import type { CausedSuppression } from "../../mail/suppression-store";
import { findPage } from "../../pages/store";
import { getMailing, nameOfSubject, waitingOf } from "../lists";
import { releaseHeldMailings, releaseMailing, stopMailing } from "../mailings";
import { limitsInWords } from "../rules";
import { countHeldByPage, listFailedMails, listMailings, type MailingRow } from "../store";
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

const FAILED_PER_SCREEN = 50;

/** `/admin/mailings`: for admins. */
export function mailingAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, MAILINGS_PATH, "admin");

  area.screen("", ({ query, requestContext: { now } }) => ({
    title: "Mailings",
    children: <MailingList list={readMailingList(ctx.db, query, now)} now={now} />,
  }));

  area.action("/go-on", {
    run: (tx, _, actor) => releaseAllMailings(ctx, tx, actor),
    done: (isChanged) => ({
      path: MAILINGS_PATH,
      text: isChanged ? "All mailings were released." : undefined,
    }),
  });

  area.longAction("/pages/:id/release", {
    async run(write, { params }, actor) {
      const page = findPage(ctx.db, { id: params.id });
      if (!page) throw notFound("page");
      return releaseHeldMailings(ctx, page, write, actor);
    },
    done: (count) => ({
      path: MAILINGS_PATH,
      text:
        count === 0
          ? "No mailing can be released: newer ones were sent, or their time is over."
          : `${plural(count, "mailing")} ${count === 1 ? "was" : "were"} released.`,
    }),
  });

  area.screen("/holds/:at", ({ params, requestContext }) =>
    showSuppressions(ctx.db, params.at, { now: requestContext.now }),
  );

  area.action("/holds/:at", {
    run(tx, { params, sent }, actor) {
      const hold = holdOf(tx, params.at);
      const isAll = sent.text(ALL_FIELD) === "yes";
      const mailIds = isAll
        ? suppressionsOfHold(tx, hold, ctx.clock.now()).map(({ mailId }) => mailId ?? "")
        : sent.all(MAIL_FIELD);
      if (mailIds.length === 0) {
        throw conflict("Select at least one address.");
      }
      return undoSuppressions(ctx, tx, hold, new Set(mailIds), actor);
    },
    done: (count, { params }) => ({
      path: suppressionsPath(Number(params.at)),
      text: count === 0 ? undefined : `${countAddresses(count)} can get mail again.`,
    }),
    showConflict: (error, { params, requestContext: { now } }) =>
      showSuppressions(ctx.db, params.at, { now, error }),
  });

  area.screen("/:id", ({ params, query, requestContext: { now } }) =>
    showMailing(ctx.db, params.id, { after: query["after"], now }),
  );

  area.confirmation("/:id/stop", {
    show({ params: { id } }) {
      const row = getMailing(ctx.db, id);
      if (row.state === "done" || row.state === "stopped") return { path: mailingPath(id) };
      const subjectName = nameOfSubject(ctx.db, row);
      return {
        title: "Stop this mailing",
        button: "Stop this mailing",
        isDanger: true,
        dialog: (
          <p>
            {eventWords(row)}
            {subjectName === undefined ? "" : `: ${subjectName}`}. Mails that have not been sent are
            cancelled within a second
            {row.sent === 0 ? "" : `; the relay has ${figure(row.sent)} already`}. Later mailings
            are not affected.
          </p>
        ),
      };
    },
    run: (tx, { params }, actor) => stopMailing(ctx, tx, params.id, actor),
    done: (_, { params }) => ({ path: mailingPath(params.id), text: "The mailing was stopped." }),
    showConflict: (rejection, { params, requestContext: { now } }) =>
      showMailing(ctx.db, params.id, { now, rejection }),
  });

  area.action("/:id/release", {
    run: (tx, { params }, actor) => releaseMailing(ctx, tx, params.id, actor),
    done: (_, { params }) => ({ path: mailingPath(params.id), text: "The mailing was released." }),
    showConflict: (rejection, { params, requestContext: { now } }) =>
      showMailing(ctx.db, params.id, { now, rejection }),
  });

  return area.routes;
}

/** Returns the hold that began at a time in a path (unix ms). Throws `not_found`. */
function holdOf(reader: Reader, at: string) {
  const hold = listMailHolds(reader).find((one) => String(one.at) === at);
  if (!hold) throw notFound("hold of mailings");
  return hold;
}

function showSuppressions(
  reader: Reader,
  at: string,
  { now, error }: { now: number; error?: string },
): Screen {
  const hold = holdOf(reader, at);
  const suppressions = suppressionsOfHold(reader, hold, now);
  return {
    title: "Suppressed addresses",
    children: <HoldSuppressions {...{ hold, suppressions, error, now }} />,
  };
}

function showMailing(
  reader: Reader,
  id: string,
  { after, now, rejection }: { after?: string | undefined; now: number; rejection?: string },
): Screen {
  const row = getMailing(reader, id);
  const failed = listFailedMails(reader, {
    mailingId: id,
    after: after ?? "",
    limit: FAILED_PER_SCREEN + 1,
  });
  const shown = failed.slice(0, FAILED_PER_SCREEN);
  const view: MailingView = {
    row,
    subjectName: nameOfSubject(reader, row),
    page: findPage(reader, { id: row.pageId }),
    hold: findMailHold(reader),
    failed: shown,
    isContinued: after !== undefined,
    nextAfter: failed.length > FAILED_PER_SCREEN ? shown.at(-1)?.id : undefined,
  };
  return {
    title: eventWords(row),
    children: <MailingDetail view={view} now={now} rejection={rejection} />,
  };
}

/** Mailing with everything that its screen shows. */
interface MailingView extends ListedMailing {
  page: { id: string; name: string } | undefined;
  hold: MailHold | undefined;
  /** Mails that failed or bounced, in the order of writing. */
  failed: ReturnType<typeof listFailedMails>;
  isContinued: boolean;
  /** Id of the last failed mail if more follow. */
  nextAfter: string | undefined;
}

interface DetailProps {
  view: MailingView;
  now: number;
  /** Reason for which the last action was not possible. */
  rejection?: string | undefined;
}

/** One mailing: figures, state, and the mails that failed. */
function MailingDetail({ view, now, rejection }: DetailProps) {
  const { row, failed } = view;
  const title = eventWords(row);
  return (
    <>
      <PageHead
        title={title}
        crumbs={[...crumbsTo(MAILINGS_PATH), { label: title }]}
        actions={<DetailActions view={view} />}
      />
      {rejection === undefined ? null : (
        <div role="alert">
          <Notice tone="major">{rejection}</Notice>
        </div>
      )}
      <Numbers
        label="Mails"
        liveId="mailing-numbers"
        items={[
          { label: "Audience", value: audienceOf(row) },
          { label: "Sent", value: figure(row.sent), note: "accepted by the relay" },
          { label: "Waiting", isZero: waitingOf(row) === 0, value: figure(waitingOf(row)) },
          {
            label: "Superseded",
            isZero: row.superseded === 0,
            value: figure(row.superseded),
            note: "by a newer mail",
          },
          {
            label: "Failed",
            isZero: row.failed + row.bounced === 0,
            value: figure(row.failed + row.bounced),
          },
        ]}
      />
      <Columns aside={<MailingFacts view={view} now={now} />}>
        {failed.length === 0 ? null : (
          <DetailCard
            title="Failed mails"
            liveId="mailing-failed"
            isTable
            count={figure(row.failed + row.bounced)}
          >
            <FailedMails view={view} now={now} />
          </DetailCard>
        )}
      </Columns>
    </>
  );
}

function DetailActions({ view: { row } }: { view: MailingView }) {
  if (row.state === "done" || row.state === "stopped") return null;
  return (
    <>
      {row.state === "held" ? (
        <PostButton action={mailingPath(row.id, "release")}>Release mailing</PostButton>
      ) : null}
      <ButtonLink href={mailingPath(row.id, "stop")} kind="danger" dialog>
        Stop this mailing
      </ButtonLink>
    </>
  );
}

function MailingFacts({ view, now }: { view: MailingView; now: number }) {
  const { row, subjectName, page, hold } = view;
  const state = { mailing: row, hold, now };
  return (
    <DetailCard title="Details" liveId="mailing-facts" isFlush>
      <Facts
        items={[
          {
            label: "State",
            value: (
              <>
                <MailingState {...state} />
                <CellNote>
                  <MailingReason {...state} />
                </CellNote>
              </>
            ),
          },
          {
            label: "About",
            value:
              subjectName === undefined ? "Deleted" : <a href={subjectPath(row)}>{subjectName}</a>,
          },
          ...(page ? [{ label: "Page", value: <a href={pagePath(page.id)}>{page.name}</a> }] : []),
          { label: "Event", value: <RelativeTime at={toIso(row.createdAt)} now={now} /> },
          {
            label: "Sent no later than",
            value: <RelativeTime at={toIso(row.deadlineAt)} now={now} />,
          },
          { label: "Cancelled", value: figure(row.cancelled) },
          { label: "Expired", value: figure(row.expired) },
          { label: "Mailing id", value: <code>{row.id}</code>, isWide: true },
        ]}
      />
    </DetailCard>
  );
}

function FailedMails({ view, now }: { view: MailingView; now: number }) {
  const { row, failed, isContinued, nextAfter } = view;
  const home = mailingPath(row.id);
  return (
    <>
      <DataTable
        caption="Failed mails"
        isInCard
        entries={failed}
        columns={[
          { label: "Recipient", cell: ({ recipient }) => recipient },
          {
            label: "Reply of the relay",
            cell: ({ reply, tries }) => (
              <>
                {reply ?? "None"}
                {tries > 1 ? <CellNote>{tries} attempts</CellNote> : null}
              </>
            ),
          },
          {
            label: "When",
            cell: ({ finishedAt }) =>
              finishedAt === null ? null : <RelativeTime at={toIso(finishedAt)} now={now} />,
          },
        ]}
      />
      <Pagination
        newestHref={isContinued ? home : undefined}
        olderHref={nextAfter && withQuery(home, { after: nextAfter })}
      />
    </>
  );
}

/** Name of the checkboxes, and of the button for all of them. */
const MAIL_FIELD = "mail";
const ALL_FIELD = "all";

interface SuppressionsProps {
  hold: MailHold;
  suppressions: readonly CausedSuppression[];
  error?: string | undefined;
  now: number;
}

/** Suppressions that the mails of a hold caused, with buttons to end some or all. */
function HoldSuppressions({ hold, suppressions, error, now }: SuppressionsProps) {
  return (
    <>
      <PageHead
        title="Suppressed addresses"
        crumbs={[...crumbsTo(MAILINGS_PATH), { label: "Suppressed addresses" }]}
      >
        Addresses that get no mail since the failures for which mailings were held{" "}
        <RelativeTime at={toIso(hold.at)} now={now} />. End the suppressions if the relay was at
        fault; each can be ended once in 7 days.
      </PageHead>
      {suppressions.length === 0 ? (
        <EmptyState title="No suppressed addresses">
          No suppression of this hold is left: an admin ended it, or the person confirmed again.
        </EmptyState>
      ) : (
        <Form action={suppressionsPath(hold.at)} enter={{}}>
          {error === undefined ? null : <FormNotice>{error}</FormNotice>}
          <CheckboxList
            legend="Addresses"
            name={MAIL_FIELD}
            options={suppressions.map(({ mailId, recipient, reason, note }) => ({
              value: mailId ?? "",
              label: recipient ?? "Erased address",
              hint: [REASON_CAUSES[reason], note].filter(Boolean).join(" "),
              isChecked: false,
            }))}
          />
          <Actions>
            <Button kind="primary">End selected</Button>
            <Button name={ALL_FIELD} value="yes">
              End all
            </Button>
          </Actions>
        </Form>
      )}
    </>
  );
}

/** `/admin/mailings`: what events sent to the subscribers of pages, newest first. */
function MailingList({ list, now }: { list: MailingListing; now: number }) {
  const { pages, page, before, mailings, order, held, nextBefore } = list;
  const filters = { page: page?.slug, sort: order };
  const sorting: Sorting = {
    order,
    usual: "Newest first",
    pathOf: (sort) => withQuery(MAILINGS_PATH, { ...filters, sort }),
  };
  const isFirstUse = mailings.length === 0 && !page && before === undefined;
  return (
    <>
      <PageHead title="Mailings" crumbs={crumbsAbove(MAILINGS_PATH)} isList>
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
                inForce={page === undefined ? 0 : 1}
                clearHref={
                  page === undefined ? undefined : withQuery(MAILINGS_PATH, { sort: order })
                }
              >
                <PageFilter pages={pages} page={page} />
                <OrderSelect sorting={sorting} columns={[WHEN_COLUMN]} />
              </ListToolbar>
            ) : null}
            <Content list={list} sorting={sorting} now={now} />
            <Pagination
              newestHref={before === undefined ? undefined : withQuery(MAILINGS_PATH, filters)}
              olderHref={
                nextBefore === undefined
                  ? undefined
                  : withQuery(MAILINGS_PATH, { ...filters, before: nextBefore })
              }
              {...(order === undefined ? {} : { newest: "Oldest", older: "Newer" })}
            />
          </ListCard>
        )}
      </div>
    </>
  );
}

function Content(props: { list: MailingListing; sorting: Sorting; now: number }) {
  const { list, sorting, now } = props;
  const { mailings, before } = list;
  if (mailings.length > 0) {
    return (
      <DataTable
        caption="Mailings"
        isInCard
        columns={columnsOf(list, now)}
        entries={mailings}
        sorting={sorting}
        isOver={({ row }) => row.state === "stopped"}
      />
    );
  }
  return before === undefined ? (
    <NoMatch title="No mailings of this page" home={MAILINGS_PATH} />
  ) : (
    <NoOlder
      what="mailings"
      newest={sorting.pathOf(sorting.order)}
      isOrdered={sorting.order !== undefined}
    />
  );
}

const WHEN_COLUMN = {
  label: "When",
  sort: { key: "when", kind: "time", usual: "descending" },
} as const;

function columnsOf(list: MailingListing, now: number): DataColumn<ListedMailing>[] {
  const { pages, page, hold } = list;
  const figureOrNone = (count: number) => (count === 0 ? null : figure(count));
  const figures: [string, (row: MailingRow) => string | null][] = [
    ["Audience", audienceOf],
    ["Sent", ({ sent }) => figure(sent)],
    ["Waiting", (row) => figureOrNone(waitingOf(row))],
    ["Superseded", ({ superseded }) => figureOrNone(superseded)],
    ["Failed", ({ failed, bounced }) => figureOrNone(failed + bounced)],
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
      ...WHEN_COLUMN,
      cell: ({ row: { createdAt } }) => <RelativeTime at={toIso(createdAt)} now={now} />,
    },
  ];
}

const PAGE_SIZE = 50;

/** Mailing with the name of the object that it is about; undefined once that is deleted. */
interface ListedMailing {
  row: MailingRow;
  subjectName: string | undefined;
}

/** Content of one screen of the list of mailings. */
interface MailingListing extends ListQuery {
  mailings: readonly ListedMailing[];
  /** Undefined for the newest first. */
  order: "when" | undefined;
  hold: MailHold | undefined;
  held: HeldMailings;
  /** Id of the last mailing if older ones follow. */
  nextBefore: string | undefined;
}

/** Reads the mailings for a query. Invalid parameters are ignored. `now` is in unix ms. */
function readMailingList(
  reader: Reader,
  query: Readonly<Record<string, string | undefined>>,
  now: number,
): MailingListing {
  const { pages, page, before } = readListQuery(reader, query);
  const order = query["sort"] === "when" ? "when" : undefined;
  const rows = listMailings(reader, {
    pageId: page?.id,
    isOldestFirst: order === "when",
    before,
    limit: PAGE_SIZE + 1,
  });
  const shown = rows.slice(0, PAGE_SIZE);
  const held = { ...readHeldMailings(reader), undoable: readUndoable(reader, now) };
  return {
    pages,
    page,
    before,
    order,
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
function countAddresses(count: number): string {
  return count === 1 ? "1 address" : `${figure(count)} addresses`;
}
