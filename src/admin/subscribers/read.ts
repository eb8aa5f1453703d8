import type { Reader } from "../../db/statements";
import type { PageRow } from "../../features/pages/store";
import { type Choosable, readChoosable } from "../../features/subscribers/choices";
import {
  countSubscribersOfPage,
  type ListedSignUp,
  type ListedSubscriber,
  listSignUps,
  listSubscribers,
  STOPPING_REASONS,
  type StoppingReason,
  type SubscriberCounts,
} from "../../features/subscribers/list";
import { choosePage, readPages } from "../../ui/frame/page-choice";
import { readSearch } from "../../features/timeline/screens/list";

const VIEWS = ["active", "unconfirmed", "suppressed", "unsubscribed"] as const;
export type View = (typeof VIEWS)[number];

const PER_SCREEN = 25;

/** One screen of the list of a page's subscribers. */
export interface SubscriberListing {
  pages: readonly PageRow[];
  page: PageRow;
  counts: SubscriberCounts;
  view: View;
  search: string;
  reason: StoppingReason | undefined;
  choosable: Choosable;
  /** Id of the component or group that the list is filtered by. */
  target: string | undefined;
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
  const filter = { pageId: page.id, search, target, before, limit: PER_SCREEN };
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
    rows: found.isOfSignUps ? [] : found.rows,
    signUps: found.isOfSignUps ? found.rows : [],
    nextBefore: found.nextBefore,
    isContinued: before !== undefined,
  };
}
