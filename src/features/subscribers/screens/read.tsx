import type { ConsentSource, MailStatus } from "../../../base/mail-address";
import type { Tone } from "../../../base/status";
import type { Reader } from "../../../db/statements";
import { State } from "../../../ui/blocks";
import { choosePage, readPages } from "../../../ui/frame/page-choice";
import { SUBSCRIBERS_PATH, withQuery } from "../../../ui/frame/paths";
import { REASON_LABELS } from "../../../ui/frame/suppression-words";
import { readSearch } from "../../../ui/screens/list";
import type { PageRow } from "../../pages/store";
import { type Choosable, readChoosable } from "../choices";
import {
  countSubscribersOfPage,
  type ListedSignUp,
  type ListedSubscriber,
  listSignUps,
  listSubscribers,
  STOPPING_REASONS,
  type StoppingReason,
  type SubscriberCounts,
} from "../list";

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
