import { type Role, roleAllows } from "../../../base/actor";
import type { ConsentSource, MailStatus, SubscriberEvent } from "../../../base/mail-address";
import type { Tone } from "../../../base/status";
import { plural } from "../../../base/text";
import { toIso } from "../../../base/time";
import type { Reader } from "../../../db/statements";
import { EVENT_LABELS } from "../../../public/subscription-form";
import { EmptyState, Notice, State } from "../../../ui/blocks";
import { ButtonLink } from "../../../ui/buttons";
import { Numbers } from "../../../ui/detail";
import { choosePage, PageFilter, readPages } from "../../../ui/frame/page-choice";
import {
  MAIL_PATH,
  MAILINGS_PATH,
  subscriberPath,
  SUBSCRIBERS_PATH,
  withQuery,
} from "../../../ui/frame/paths";
import { REASON_LABELS } from "../../../ui/frame/suppression-words";
import { Icon } from "../../../ui/icons";
import {
  CellNote,
  DataTable,
  FilterSelect,
  ListCard,
  ListToolbar,
  OrderSelect,
  RowLink,
  type Sorting,
} from "../../../ui/list";
import { HeadLinks, PageHead, Pagination, Tabs } from "../../../ui/navigation";
import { countFilters, readSearch } from "../../../ui/screens/list";
import { RelativeTime } from "../../../ui/times";
import type { PageRow } from "../../pages/store";
import { type Choosable, readChoosable } from "../choices";
import {
  type BoundedCount,
  countSubscribersOfPage,
  type ListedSignUp,
  type ListedSubscriber,
  listSignUps,
  listSubscribers,
  STOPPING_REASONS,
  type StoppingReason,
  type SubscriberCounts,
} from "../list";

const VIEW_LABELS: Readonly<Record<View, string>> = {
  active: "Subscribed",
  unconfirmed: "Unconfirmed",
  suppressed: "Suppressed",
  unsubscribed: "Unsubscribed",
};

interface FrameProps {
  pages: readonly PageRow[];
  page: PageRow;
  counts: SubscriberCounts;
  role: Role;
  isMailReady: boolean;
}

/** Numbers of a page's subscribers, which is all that editors see. */
export function SubscriberNumbers(props: FrameProps) {
  const { pages, page } = props;
  return (
    <>
      <Head {...props} />
      {pages.length > 1 ? (
        <ListToolbar action={SUBSCRIBERS_PATH} isCard>
          <PageFilter pages={pages} page={page} isOnePage />
        </ListToolbar>
      ) : null}
      <Counts {...props} />
    </>
  );
}

/** Subscribers of a page, with their numbers. */
export function SubscriberList(props: { list: SubscriberListing; now: number } & FrameProps) {
  const { list, now } = props;
  const { view, rows, signUps, nextBefore, isContinued } = list;
  const isEmpty = rows.length === 0 && signUps.length === 0;
  const sorting: Sorting | undefined = list.isOrderable
    ? {
        order: list.order,
        usual: "Newest first",
        pathOf: (sort) => pathOf(list, { sort }),
      }
    : undefined;
  return (
    <>
      <Head {...props} />
      <Counts {...props} />
      <div class="columns-main" id="list" data-live="">
        <Tabs
          label="State"
          items={Object.entries(VIEW_LABELS).map(([name, label]) => ({
            href: pathOf(list, { show: name, reason: undefined }),
            label,
            isCurrent: name === view,
          }))}
        />
        <ListCard>
          <Filters list={list} sorting={sorting} />
          {isEmpty ? (
            <EmptyList list={list} role={props.role} />
          ) : view === "unconfirmed" ? (
            <SignUpTable list={list} now={now} />
          ) : (
            <SubscriberTable list={list} sorting={sorting} now={now} />
          )}
          <Pagination
            isOrdered={list.order !== undefined}
            newestHref={isContinued ? pathOf(list, {}) : undefined}
            olderHref={nextBefore === undefined ? undefined : pathOf(list, { before: nextBefore })}
          />
        </ListCard>
      </div>
    </>
  );
}

/** Returns the path of the list with its filters, some of which differ. */
function pathOf(
  { page, search, view, reason, target, order }: SubscriberListing,
  more: Readonly<Record<string, string | undefined>>,
): string {
  const { show = view === "active" ? undefined : view, ...rest } = more;
  return withQuery(SUBSCRIBERS_PATH, {
    page: page.slug,
    show: show === "active" ? undefined : show,
    q: search,
    reason,
    component: target,
    sort: order,
    ...rest,
  });
}

function Head({ page, role, isMailReady }: FrameProps) {
  return (
    <>
      <PageHead
        title="Subscribers"
        isList
        actions={
          roleAllows(role, "admin") ? (
            <>
              <HeadLinks>
                <ButtonLink href={MAILINGS_PATH}>
                  <Icon name="megaphone" />
                  Mailings
                </ButtonLink>
                {roleAllows(role, "owner") ? (
                  <ButtonLink href={withQuery(IMPORT_PATH, { page: page.slug })}>
                    Import and export
                  </ButtonLink>
                ) : null}
              </HeadLinks>
              <ButtonLink href={newSubscriberPath(page.slug)} kind="primary">
                <Icon name="plus" />
                Add subscriber
              </ButtonLink>
            </>
          ) : undefined
        }
      >
        People who get messages about <a href={`/status/${page.slug}`}>{page.name}</a> by e-mail.
      </PageHead>
      {isMailReady ? null : (
        <Notice tone="partial" title="E-mail is not set up">
          Visitors cannot subscribe, and subscribers get no messages.{" "}
          {roleAllows(role, "owner") ? (
            <a href={MAIL_PATH}>Set up e-mail</a>
          ) : (
            "An owner can set it up."
          )}
        </Notice>
      )}
    </>
  );
}

function Counts({ counts }: FrameProps) {
  const { active, unsubscribed, unconfirmed, suppressed } = counts;
  const all = STOPPING_REASONS.map((reason) => ({ reason, ...suppressed[reason] }));
  const isExact = all.every((one) => one.isExact);
  const count = all.reduce((sum, one) => sum + one.count, 0);
  const reasons = all
    .filter((one) => one.count > 0)
    .map((one) => `${textOf(one)} ${REASON_LABELS[one.reason].toLowerCase()}`);
  return (
    <Numbers
      label="Numbers of subscribers"
      liveId="subscriber-numbers"
      items={[
        { label: "Subscribed", value: active.toLocaleString("en") },
        {
          label: "Get no mail",
          isZero: count === 0,
          value: textOf({ count, isExact }),
          note: reasons.join(", "),
        },
        {
          label: "Unconfirmed",
          isZero: unconfirmed.count === 0,
          value: textOf(unconfirmed),
          note: "Sign-ups of the last 7 days",
        },
        {
          label: "Unsubscribed",
          isZero: unsubscribed === 0,
          value: unsubscribed.toLocaleString("en"),
        },
      ]}
    />
  );
}

/** Returns a number; "500+" if there may be more. */
function textOf({ count, isExact }: BoundedCount): string {
  return `${count.toLocaleString("en")}${isExact ? "" : "+"}`;
}

function Filters(props: { list: SubscriberListing; sorting: Sorting | undefined }) {
  const { list, sorting } = props;
  const { pages, page, view, search, reason, choosable, target, order } = list;
  const isFiltered = search !== "" || reason !== undefined || target !== undefined;
  const hidden = {
    ...(view === "active" ? {} : { show: view }),
    ...(pages.length > 1 ? {} : { page: page.slug }),
  };
  return (
    <ListToolbar
      action={SUBSCRIBERS_PATH}
      search={{
        value: search,
        label: "Search by a part of the address",
        placeholder: "Part of the address",
      }}
      hidden={hidden}
      clearHref={
        isFiltered
          ? withQuery(SUBSCRIBERS_PATH, {
              page: page.slug,
              show: view === "active" ? undefined : view,
              sort: order,
            })
          : undefined
      }
      inForce={countFilters({ reason, target })}
    >
      {view === "suppressed" ? (
        <FilterSelect
          label="Reason"
          name="reason"
          options={[
            { value: "", label: "Every reason" },
            ...STOPPING_REASONS.map((value) => ({ value, label: REASON_LABELS[value] })),
          ]}
          value={reason ?? ""}
        />
      ) : null}
      {choosable.components.length === 0 ? null : (
        <FilterSelect
          label="Followed component"
          name="component"
          options={[
            { value: "", label: "Every component" },
            ...choosable.groups.map(({ id, name }) => ({ value: id, label: `All of ${name}` })),
            ...choosable.components.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          value={target ?? ""}
        />
      )}
      <PageFilter pages={pages} page={page} isOnePage />
      <OrderSelect sorting={sorting} columns={[ADDRESS_COLUMN]} />
    </ListToolbar>
  );
}

/** Replacement of a list without entries. */
function EmptyList({ list, role }: { list: SubscriberListing; role: Role }) {
  const { page, view, search, target, reason, nextBefore, isContinued } = list;
  if (nextBefore !== undefined) {
    return (
      <EmptyState title="No match so far">
        Only a part of the list was searched. Select “Older” to search the next part.
      </EmptyState>
    );
  }
  if (isContinued) return <EmptyState title="No more entries">The list ends here.</EmptyState>;
  const isFiltered = search !== "" || target !== undefined || reason !== undefined;
  if (isFiltered) {
    return (
      <EmptyState
        title="No one matches these filters"
        action={<ButtonLink href={subscribersOfPagePath(page.slug)}>Show all</ButtonLink>}
      >
        Only this tab was searched. Look at the other tabs as well.
        {search.length > 0 && search.length < 3
          ? " One or two characters find addresses that begin with them."
          : ""}
      </EmptyState>
    );
  }
  if (view !== "active") {
    return <EmptyState title={EMPTY_TITLES[view]}>{EMPTY_TEXTS[view]}</EmptyState>;
  }
  return (
    <EmptyState
      title="No subscribers yet"
      action={
        roleAllows(role, "admin") ? (
          <ButtonLink href={newSubscriberPath(page.slug)}>Add subscriber</ButtonLink>
        ) : undefined
      }
    >
      Visitors subscribe on the subscribe page. You can also add people, who then confirm by a mail.
    </EmptyState>
  );
}

const EMPTY_TITLES = {
  unconfirmed: "No unconfirmed sign-ups",
  suppressed: "No suppressed addresses",
  unsubscribed: "No one unsubscribed",
} as const;

const EMPTY_TEXTS = {
  unconfirmed: "Sign-ups appear here until the person confirms, for at most 7 days.",
  suppressed:
    "Subscribers whose address gets no messages appear here, with the reason: it bounced or failed, the person complained or declined, or an admin blocked it.",
  unsubscribed:
    "People whose subscription has ended appear here. Their addresses are removed after 30 days.",
} as const;

// An index has the addresses in this direction.
const ADDRESS_COLUMN = { label: "Address", sort: { key: "address", only: "ascending" } } as const;

/** Subscribers of a list. */
function SubscriberTable(props: {
  list: SubscriberListing;
  sorting: Sorting | undefined;
  now: number;
}) {
  const { list, sorting, now } = props;
  return (
    <DataTable
      sorting={sorting}
      caption="Subscribers"
      isInCard
      isOver={({ status }) => status === "unsubscribed"}
      entries={list.rows}
      columns={[
        {
          ...ADDRESS_COLUMN,
          cell: ({ id, address }) => (
            <RowLink href={subscriberPath(id)}>
              <Address address={address ?? "Address removed"} />
            </RowLink>
          ),
        },
        { label: "State", cell: (row) => <SubscriberState {...row} /> },
        {
          label: "Messages about",
          cell: ({ scope, choices, events }) => <About {...{ scope, choices, events }} />,
        },
        {
          label: "Since",
          cell: ({ unsubscribedAt, confirmedAt }) => (
            <RelativeTime at={toIso(unsubscribedAt ?? confirmedAt)} now={now} />
          ),
        },
      ]}
    />
  );
}

/** Sign-ups that were not confirmed yet. */
function SignUpTable({ list, now }: { list: SubscriberListing; now: number }) {
  return (
    <DataTable
      caption="Unconfirmed sign-ups"
      isInCard
      entries={list.signUps}
      columns={[
        { label: "Address", cell: ({ address }) => <Address address={address} /> },
        {
          label: "Messages about",
          cell: ({ choices: { scope, targets, events } }) => (
            <About scope={scope} choices={targets.length} events={events} />
          ),
        },
        {
          label: "Origin",
          cell: ({ source }) => (source === "form" ? "Form of the page" : SOURCE_WORDS[source]),
        },
        {
          label: "Asked",
          cell: ({ requestedAt, expiresAt }) => (
            <>
              <RelativeTime at={toIso(requestedAt)} now={now} />
              <CellNote>
                expires <RelativeTime at={toIso(expiresAt)} now={now} />
              </CellNote>
            </>
          ),
        },
      ]}
    />
  );
}

const EVENT_WORDS = { ...EVENT_LABELS, incidents: "Incidents", status: "Status changes" };

function Address({ address }: { address: string }) {
  return <span class="mail-address">{address}</span>;
}

interface AboutProps {
  scope: "page" | "selection";
  /** Number of chosen components and groups. */
  choices: number;
  events: readonly SubscriberEvent[];
}

/** Choices of a person. */
function About({ scope, choices, events }: AboutProps) {
  return (
    <>
      {scope === "page"
        ? "Everything"
        : choices === 0
          ? "Nothing: components deleted"
          : plural(choices, "selected component")}
      <CellNote>{events.map((event) => EVENT_WORDS[event]).join(", ")}</CellNote>
    </>
  );
}

const VIEWS = ["active", "unconfirmed", "suppressed", "unsubscribed"] as const;
type View = (typeof VIEWS)[number];

const PER_SCREEN = 25;

/** One screen of the list of a page's subscribers. */
interface SubscriberListing {
  pages: readonly PageRow[];
  page: PageRow;
  counts: SubscriberCounts;
  view: View;
  search: string;
  reason: StoppingReason | undefined;
  choosable: Choosable;
  /** Id of the component or group that the list is filtered by. */
  target: string | undefined;
  /** Undefined for the newest first. */
  order: "address" | undefined;
  /** False for a view or a filter that another index finds, in its own order. */
  isOrderable: boolean;
  /** Subscribers; sign-ups in the view of the unconfirmed. */
  rows: readonly ListedSubscriber[];
  signUps: readonly ListedSignUp[];
  nextBefore: string | undefined;
  isContinued: boolean;
}

type Query = Readonly<Record<string, string | undefined>>;

/** Reads the page of a query, and all others; undefined without a page. */
export function readPageOf(
  reader: Reader,
  query: Query,
): { pages: readonly PageRow[]; page: PageRow } | undefined {
  const pages = readPages(reader);
  const page = choosePage(pages, query["page"]);
  return page && { pages, page };
}

/** Reads the counts and the list of a page's subscribers for a query. Invalid parameters are ignored. */
export function readSubscriberList(
  reader: Reader,
  { pages, page }: { pages: readonly PageRow[]; page: PageRow },
  query: Query,
  now: number,
): SubscriberListing {
  const view = VIEWS.find((name) => name === query["show"]) ?? "active";
  const search = readSearch(query);
  const reason =
    view === "suppressed" ? STOPPING_REASONS.find((name) => name === query["reason"]) : undefined;
  const choosable = readChoosable(reader, page.id);
  const component = choosable.components.find(({ id }) => id === query["component"]);
  const group = choosable.groups.find(({ id }) => id === query["component"]);
  const target = component ?? (group && { id: group.id, groupId: null });
  const before = query["before"] || undefined;
  const isOrderable = view === "active" && search === "" && target === undefined;
  const order = isOrderable && query["sort"] === "address" ? "address" : undefined;
  const isByAddress = order !== undefined;
  const filter = { pageId: page.id, search, target, isByAddress, before, limit: PER_SCREEN };
  const found =
    view === "unconfirmed"
      ? { ...listSignUps(reader, filter, now), isOfSignUps: true as const }
      : { ...listSubscribers(reader, { ...filter, view, reason }), isOfSignUps: false as const };
  return {
    pages,
    page,
    counts: countSubscribersOfPage(reader, page.id),
    view,
    search,
    reason,
    choosable,
    target: target?.id,
    order,
    isOrderable,
    rows: found.isOfSignUps ? [] : found.rows,
    signUps: found.isOfSignUps ? found.rows : [],
    nextBefore: found.nextBefore,
    isContinued: before !== undefined,
  };
}

/** Returns the path of the list of a page's subscribers. */
export function subscribersOfPagePath(slug: string): string {
  return withQuery(SUBSCRIBERS_PATH, { page: slug });
}

/** Returns the path of the form that adds a subscriber to a page. */
export function newSubscriberPath(slug: string): string {
  return withQuery(`${SUBSCRIBERS_PATH}/new`, { page: slug });
}

export const IMPORT_PATH = `${SUBSCRIBERS_PATH}/import`;
export const EXPORT_PATH = `${SUBSCRIBERS_PATH}/export`;
export const ERASE_PATH = `${SUBSCRIBERS_PATH}/erase`;

/** Returns the path of the form for erasing the address of a subscriber, which is not in the path itself. */
export function eraseSubscriberPath(id: string): string {
  return `${ERASE_PATH}?subscriber=${encodeURIComponent(id)}`;
}

/** Largest file of an import, in bytes. The command takes any size. */
export const IMPORT_FILE_MAX_BYTES = 900 * 1024;

type Shown = Pick<ListedSubscriber, "status" | "reasons">;

/** State of a subscriber: active, ended, or the reason for which the address gets no mail. */
export function SubscriberState({ status, reasons }: Shown) {
  const all = reasons?.split(",") ?? [];
  const stop = Object.entries(REASON_LABELS).find(
    ([reason]) => reason !== "erased" && all.includes(reason),
  );
  if (status === "unsubscribed") return <State tone="none">{REASON_LABELS.unsubscribed}</State>;
  if (stop === undefined) return <State tone="ok">Active</State>;
  const [reason, word] = stop;
  return reason === "blocked" ? (
    <State tone="none" isPaused>
      {word}
    </State>
  ) : (
    <State tone="partial">{word}</State>
  );
}

/** Words for the origin of a consent. */
export const SOURCE_WORDS: Readonly<Record<ConsentSource, string>> = {
  form: "Confirmed by e-mail after a sign-up on the page",
  dashboard: "Added in the dashboard",
  command: "Added by a command",
  import: "Imported",
};

const MAIL_LOOKS: Readonly<Record<MailStatus, { label: string; tone: Tone }>> = {
  pending: { label: "Waiting", tone: "none" },
  sent: { label: "Accepted by the relay", tone: "ok" },
  bounced: { label: "Bounced", tone: "major" },
  failed: { label: "Failed", tone: "major" },
  superseded: { label: "Superseded by a newer message", tone: "none" },
  cancelled: { label: "Cancelled", tone: "none" },
  expired: { label: "Expired", tone: "none" },
};

/** State of a mail. A waiting one with failed tries has the tone of a retry. */
export function MailState({ status, tries }: { status: MailStatus; tries: number }) {
  const { label, tone } = MAIL_LOOKS[status];
  return (
    <State tone={status === "pending" && tries > 0 ? "degraded" : tone}>
      {status === "pending" && tries > 0 ? "Retrying" : label}
    </State>
  );
}
