import type { Reader } from "../../db";
import { type IncidentQuery, type IncidentRecord, listIncidents } from "../../features/incidents";
import type { PageRow } from "../../features/pages";
import { INCIDENT_STATUSES } from "../../kernel/incident-status";
import { readPages } from "../read-pages";

/** What of the incidents a list shows: open ones first, or only some. */
export const LIST_VIEWS = ["all", "open", ...INCIDENT_STATUSES, "drafts"] as const;
export type ListView = (typeof LIST_VIEWS)[number];

const PAGE_SIZE = 50;
/** More open ones than these are read in the list of open ones alone. */
const OPEN_SHOWN = 100;

/** One screen of the list of incidents. */
export interface IncidentListing {
  pages: readonly PageRow[];
  /** The one page that it is narrowed to. */
  page: PageRow | undefined;
  view: ListView;
  search: string;
  /** Open ones above the others, in the view of all, on its first screen. */
  open: readonly IncidentRecord[];
  hasMoreOpen: boolean;
  /** In the view of all what is over, else what the view shows. */
  rest: readonly IncidentRecord[];
  /** The id behind which the next screen begins, if there is one; and whether this is not the first. */
  nextBefore: string | undefined;
  isContinued: boolean;
}

const NARROWED: Readonly<Record<ListView, Partial<IncidentQuery>>> = {
  all: { isOpen: false },
  open: { isOpen: true },
  investigating: { status: "investigating" },
  identified: { status: "identified" },
  monitoring: { status: "monitoring" },
  resolved: { status: "resolved" },
  drafts: { isDraft: true },
};

/** Reads what the query of the list's address asks for; what it does not understand it lets be. */
export function readIncidentList(
  reader: Reader,
  query: Readonly<Record<string, string | undefined>>,
): IncidentListing {
  const pages = readPages(reader);
  const page = pages.find(({ slug, id }) => slug === query["page"] || id === query["page"]);
  const view = LIST_VIEWS.find((name) => name === query["show"]) ?? "all";
  const search = (query["q"] ?? "").trim();
  const before = query["before"] || undefined;
  const desired = { pageId: page?.id, name: search };
  const rest = listIncidents(reader, {
    ...desired,
    ...NARROWED[view],
    before,
    limit: PAGE_SIZE + 1,
  });
  const hasOpen = view === "all" && before === undefined;
  const open = hasOpen
    ? listIncidents(reader, { ...desired, isOpen: true, limit: OPEN_SHOWN + 1 })
    : [];
  const shown = rest.slice(0, PAGE_SIZE);
  return {
    pages,
    page,
    view,
    search,
    open: open.slice(0, OPEN_SHOWN),
    hasMoreOpen: open.length > OPEN_SHOWN,
    rest: shown,
    nextBefore: rest.length > PAGE_SIZE ? shown.at(-1)?.row.id : undefined,
    isContinued: before !== undefined,
  };
}
