import { type Role, roleAllows } from "../../../base/actor";
import type { SubscriberEvent } from "../../../base/mail-address";
import { plural } from "../../../base/text";
import { toIso } from "../../../base/time";
import { EVENT_LABELS } from "../../../public/subscription-form";
import { EmptyState, Notice } from "../../../ui/blocks";
import { ButtonLink } from "../../../ui/buttons";
import { Numbers } from "../../../ui/detail";
import { PageFilter } from "../../../ui/frame/page-choice";
import { MAIL_PATH, subscriberPath, SUBSCRIBERS_PATH, withQuery } from "../../../ui/frame/paths";
import { REASON_LABELS } from "../../../ui/frame/suppression-words";
import { Icon } from "../../../ui/icons";
import {
  CellNote,
  DataTable,
  FilterSelect,
  ListCard,
  ListToolbar,
  RowLink,
} from "../../../ui/list";
import { PageHead, Pagination, Tabs } from "../../../ui/navigation";
import { RelativeTime } from "../../../ui/times";
import type { PageRow } from "../../pages/store";
import { type BoundedCount, STOPPING_REASONS, type SubscriberCounts } from "../list";
import {
  IMPORT_PATH,
  newSubscriberPath,
  SOURCE_WORDS,
  type SubscriberListing,
  subscribersOfPagePath,
  SubscriberState,
  type View,
} from "./read";

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
          <Filters list={list} />
          {isEmpty ? (
            <EmptyList list={list} role={props.role} />
          ) : view === "unconfirmed" ? (
            <SignUpTable list={list} now={now} />
          ) : (
            <SubscriberTable list={list} now={now} />
          )}
          <Pagination
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
  { page, search, view, reason, target }: SubscriberListing,
  more: Readonly<Record<string, string | undefined>>,
): string {
  const { show = view === "active" ? undefined : view, ...rest } = more;
  return withQuery(SUBSCRIBERS_PATH, {
    page: page.slug,
    show: show === "active" ? undefined : show,
    q: search,
    reason,
    component: target,
    ...rest,
  });
}

function Head({ page, role, isMailReady }: FrameProps) {
  return (
    <>
      <PageHead
        title="Subscribers"
        actions={
          roleAllows(role, "admin") ? (
            <>
              {roleAllows(role, "owner") ? (
                <ButtonLink href={withQuery(IMPORT_PATH, { page: page.slug })}>
                  Import and export
                </ButtonLink>
              ) : null}
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
          value: textOf({ count, isExact }),
          note: reasons.length > 0 ? reasons.join(", ") : "No address is suppressed",
        },
        { label: "Unconfirmed", value: textOf(unconfirmed), note: "Sign-ups of the last 7 days" },
        { label: "Unsubscribed", value: unsubscribed.toLocaleString("en") },
      ]}
    />
  );
}

/** Returns a number; "500+" if there may be more. */
function textOf({ count, isExact }: BoundedCount): string {
  return `${count.toLocaleString("en")}${isExact ? "" : "+"}`;
}

function Filters({ list }: { list: SubscriberListing }) {
  const { pages, page, view, search, reason, choosable, target } = list;
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
            })
          : undefined
      }
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

/** Subscribers of a list. */
function SubscriberTable({ list, now }: { list: SubscriberListing; now: number }) {
  return (
    <DataTable
      caption="Subscribers"
      isInCard
      isOver={({ status }) => status === "unsubscribed"}
      entries={list.rows}
      columns={[
        {
          label: "Address",
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
