import { type Role, roleAllows } from "../../base/actor";
import type { PageRow } from "../../features/pages/store";
import {
  type BoundedCount,
  STOPPING_REASONS,
  type SubscriberCounts,
} from "../../features/subscribers/list";
import { ButtonLink } from "../../ui/buttons";
import { FilterSelect, ListCard, ListToolbar } from "../../ui/list";
import { Icon } from "../../ui/icons";
import { Notice } from "../../ui/blocks";
import { Numbers } from "../../ui/detail";
import { PageHead, Pagination, Tabs } from "../../ui/navigation";
import { PageFilter } from "../../ui/frame/page-choice";
import { MAIL_PATH, SUBSCRIBERS_PATH } from "../../ui/frame/paths";
import { REASON_LABELS } from "../suppression-words";
import { listPath } from "../../features/timeline/screens/list";
import type { SubscriberListing, View } from "./read";
import { EmptyList } from "./empty-list";
import { IMPORT_PATH, newSubscriberPath } from "./subscriber-paths";
import { SignUpTable, SubscriberTable } from "./tables";

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
  return listPath(SUBSCRIBERS_PATH, {
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
                <ButtonLink href={listPath(IMPORT_PATH, { page: page.slug })}>
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
          ? listPath(SUBSCRIBERS_PATH, {
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
