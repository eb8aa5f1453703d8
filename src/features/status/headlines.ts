/* Headlines of all pages, for the dashboard. Those of one page are in its snapshot. */
import type { Reader } from "../../db/statements";
import { countStatuses } from "../components/store";
import { countOpenImpacts } from "../incidents/store";
import { type HeadlineFacts, headlineOf } from "./rules";

/** Headline of a page with the statuses and impacts that it is computed from. */
export interface PageHeadline extends HeadlineFacts {
  componentCount: number;
  /** Number of published open incidents. */
  openIncidentCount: number;
}

/** Headline of a page without components and open incidents. */
export const EMPTY_HEADLINE: PageHeadline = {
  status: headlineOf([]),
  components: [],
  incidents: [],
  componentCount: 0,
  openIncidentCount: 0,
};

/** Reads the headlines of all pages by id, with two statements. A page without components and open incidents has no entry. */
export function readHeadlines(reader: Reader): ReadonlyMap<string, PageHeadline> {
  const components = Map.groupBy(countStatuses(reader, {}), ({ pageId }) => pageId);
  const incidents = Map.groupBy(countOpenImpacts(reader, {}), ({ pageId }) => pageId);
  const headlines = new Map<string, PageHeadline>();
  for (const pageId of new Set([...components.keys(), ...incidents.keys()])) {
    const counts = components.get(pageId) ?? [];
    const open = incidents.get(pageId) ?? [];
    const statuses = counts.flatMap(({ status, count }) =>
      Array.from({ length: count }, () => status),
    );
    const impacts = open.map(({ impact }) => impact);
    headlines.set(pageId, {
      status: headlineOf(statuses, impacts),
      components: counts,
      incidents: open,
      componentCount: statuses.length,
      openIncidentCount: open.reduce((total, { count }) => total + count, 0),
    });
  }
  return headlines;
}
