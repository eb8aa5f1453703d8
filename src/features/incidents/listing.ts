import type { Reader } from "../../db";
import { NEWEST } from "../../domain/ids";
import type { IncidentStatus } from "../../domain/incident-status";
import { toDocumentRecords } from "./lists";
import type { IncidentRecord } from "./records";
import { listIncidentRows } from "./store";

/** Longer than any name. */
const SEARCH_MAX = 1_000;

/** Filters of the list of incidents. An omitted filter matches everything. */
export interface IncidentQuery {
  pageId?: string | undefined;
  status?: IncidentStatus | undefined;
  /** Only those that are not resolved, or only those that are. */
  isOpen?: boolean | undefined;
  /** Only drafts; else drafts are among the others. */
  isDraft?: true | undefined;
  /** A part of the name; of ASCII letters the case does not matter. */
  name?: string | undefined;
  /** The id of an incident: those older than it. */
  before?: string | undefined;
  limit: number;
}

/**
 * Returns incidents of every page, drafts too, newest first, each with its 20 newest updates. Named
 * components are cut as in a public document.
 */
export function listIncidents(reader: Reader, query: IncidentQuery): IncidentRecord[] {
  const name = query.name?.trim().slice(0, SEARCH_MAX);
  const found = listIncidentRows(reader, {
    pageId: query.pageId ?? null,
    componentId: null,
    status: query.status ?? null,
    open: query.isOpen,
    since: null,
    until: null,
    draftsToo: 1,
    draftsOnly: query.isDraft ? 1 : 0,
    name: name || null,
    before: query.before ?? NEWEST,
    limit: query.limit,
  });
  return toDocumentRecords(reader, found);
}
