import type { Reader } from "../../db";
import { type IncidentQuery, type IncidentRecord, listIncidents } from "../../features/incidents";
import type { PageRow } from "../../features/pages";
import { INCIDENT_STATUSES } from "../../domain/incident-status";
import { readPages } from "../read-pages";

/** Views of the list: `all` shows open incidents first, the others filter. */
export const LIST_VIEWS = ["all", "open", ...INCIDENT_STATUSES, "drafts"] as const;
export type ListView = (typeof LIST_VIEWS)[number];

const PAGE_SIZE = 50;
/** Open incidents in the view of all; the view of open ones has the rest. */
const OPEN_SHOWN = 100;

/** Content of one screen of the list of incidents. */
export interface IncidentListing {
  pages: readonly PageRow[];
  /** Page that the list is filtered by. */
  page: PageRow | undefined;
  view: ListView;
  search: string;
  /** Open incidents, listed above the others on the first screen of the view of all. */
  open: readonly IncidentRecord[];
  hasMoreOpen: boolean;
  /** Resolved incidents in the view of all, otherwise the incidents of the view. */
  rest: readonly IncidentRecord[];
  /**
   * Last id of this screen if more follow. `isContinued` is true for every screen but the first.
   */
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

/** Reads the incidents for a query. Invalid parameters are ignored. */
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
