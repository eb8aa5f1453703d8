import type { Reader } from "../../db/statements";
import { type Impact, IMPACTS, INCIDENT_STATUSES } from "../../domain/incident-status";
import { type ComponentRow, listComponentsOfPage } from "../../features/components/store";
import { countIncidents, type IncidentQuery, listIncidents } from "../../features/incidents/lists";
import { countOutagesOfIncidents } from "../../features/incidents/outage-store";
import type { IncidentRecord } from "../../features/incidents/records";
import { type ListQuery, readListQuery, readSearch } from "../timeline/list-frame";

/** Views of the list: `all` shows open incidents first, the others filter. */
export const LIST_VIEWS = ["all", "open", "drafts", ...INCIDENT_STATUSES] as const;
export type ListView = (typeof LIST_VIEWS)[number];

const VIEW_QUERIES: Readonly<Record<ListView, Partial<IncidentQuery>>> = {
  all: { isOpen: false },
  open: { isOpen: true, isDraft: false },
  drafts: { isDraft: true },
  investigating: { status: "investigating", isDraft: false },
  identified: { status: "identified", isDraft: false },
  monitoring: { status: "monitoring", isDraft: false },
  resolved: { status: "resolved", isDraft: false },
};

const PAGE_SIZE = 25;
/** Number of open incidents in the view of all; the view of open ones has the rest. */
const OPEN_SHOWN = 100;
/** Minimum number of resolved incidents after many open ones. */
const REST_MIN = 5;

/** Content of one screen of the list of incidents. */
export interface IncidentListing extends ListQuery {
  view: ListView;
  search: string;
  impact: Impact | undefined;
  /** Components to choose from: those of the only page, or of the chosen one. */
  components: readonly Pick<ComponentRow, "id" | "name">[];
  component: Pick<ComponentRow, "id" | "name"> | undefined;
  /** Incidents of this part; in the view of all, open ones come first. */
  records: readonly IncidentRecord[];
  hasMoreOpen: boolean;
  /** Numbers of monitors by incident id; missing for incidents without monitors. */
  monitorCounts: ReadonlyMap<string, number>;
  /** Numbers of incidents that match the filters, by view; empty if there are too many to count. */
  counts: Readonly<Partial<Record<ListView, number>>>;
  /** Id of the last incident if older ones follow. */
  nextBefore: string | undefined;
}

/** Reads the incidents for a query. Invalid parameters are ignored. */
export function readIncidentList(
  reader: Reader,
  query: Readonly<Record<string, string | undefined>>,
): IncidentListing {
  const { pages, page, before } = readListQuery(reader, query);
  const view = LIST_VIEWS.find((name) => name === query["show"]) ?? "all";
  const search = readSearch(query);
  const impact = IMPACTS.find((name) => name === query["impact"]);
  const pageId = page?.id ?? (pages.length === 1 ? pages[0]?.id : undefined);
  const components = pageId === undefined ? [] : listComponentsOfPage(reader, { pageId });
  const component = components.find(({ id }) => id === query["component"]);
  const filter = { pageId: page?.id, search, impact, componentId: component?.id };
  const open =
    view === "all" && before === undefined
      ? listIncidents(reader, { ...filter, isOpen: true, limit: OPEN_SHOWN + 1 })
      : [];
  const limit = open.length === 0 ? PAGE_SIZE : Math.max(REST_MIN, PAGE_SIZE - open.length);
  const matches = listIncidents(reader, {
    ...filter,
    ...VIEW_QUERIES[view],
    before,
    limit: limit + 1,
  });
  const rest = matches.slice(0, limit);
  const counts = countIncidents(reader, filter);
  const records = [...open.slice(0, OPEN_SHOWN), ...rest];
  const ids = JSON.stringify(records.map(({ row }) => row.id));
  const outages = countOutagesOfIncidents(reader, { ids });
  return {
    pages,
    page,
    before,
    view,
    search,
    impact,
    components,
    component,
    records,
    monitorCounts: new Map(outages.map(({ incidentId, monitors }) => [incidentId, monitors])),
    hasMoreOpen: open.length > OPEN_SHOWN,
    counts: counts ? { ...counts, all: counts.open + counts.drafts + counts.resolved } : {},
    nextBefore: matches.length > limit ? rest.at(-1)?.row.id : undefined,
  };
}
