import type { AppContext } from "../../context";
import type { Reader } from "../../db";
import { type Author, authorsOf } from "../../events";
import {
  type ComponentRow,
  type GroupRow,
  listComponentsOfPage,
  listGroups,
} from "../../features/components";
import { getIncident, type Incident, presentIncident } from "../../features/incidents";
import { getPage, type PageRow } from "../../features/pages";

/** One incident with the related data that its screens show. */
export interface IncidentView {
  incident: Incident;
  page: PageRow;
  /** Components of the page, in page order. */
  components: readonly ComponentRow[];
  groups: readonly GroupRow[];
  /** Known authors, by update id. */
  authors: ReadonlyMap<string, Author>;
}

/** Audit log actions that write an update. */
const WRITING = ["incident.create", "incident.add_update"];

/** Reads one incident, including a draft. Throws `not_found`. */
export function readIncidentView(
  { baseUrl }: Pick<AppContext, "baseUrl">,
  reader: Reader,
  id: string,
): IncidentView {
  const record = getIncident(reader, id, true);
  const { pageId } = record.row;
  // Ids sort by the time of their making.
  const written = record.updates.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return {
    incident: presentIncident(record, baseUrl, true),
    page: getPage(reader, pageId),
    components: listComponentsOfPage(reader, { pageId }),
    groups: listGroups(reader, { pageId }),
    authors: authorsOf(reader, id, WRITING, written),
  };
}
