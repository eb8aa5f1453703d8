/* Past and open incidents and maintenance of a page, for its history and feeds, and their names for its charts. */
import { LRUCache } from "lru-cache";
import { lazy } from "../../base/lazy";
import { sum } from "../../base/numbers";
import { DAY_MS, startOfDay } from "../../base/time";
import type { Reader } from "../../db/statements";
import {
  findFirstIncidentStart,
  type IncidentSummary,
  listEndedIncidents,
  listIncidentsBetween,
  listOpenSummariesOf,
} from "../incidents/records";
import { findIncidentNames } from "../incidents/store";
import {
  findFirstMaintenanceStart,
  listEndedMaintenance,
  listMaintenanceBetween,
  type MaintenanceSummary,
} from "../maintenance/records";
import { findMaintenanceNames } from "../maintenance/store";
import type { PageRow } from "../pages/store";
import type { SummaryCursor } from "../timeline/store";
import type { Snapshot } from "./snapshots";

/** Number of days, including today, of past entries on a page. */
export const PAST_DAYS = 14;

const PAST_MAX = 100;

/** Maximum duration of maintenance among past entries, since it is found by its start. */
const LONGEST_MAINTENANCE_MS = 30 * DAY_MS;

/** An incident or maintenance in the history of a page. */
export interface HistoryEntry {
  /** Start and end in unix ms; no end while it is open. */
  from: number;
  to: number | null;
  subject:
    | { kind: "incident"; incident: IncidentSummary }
    | { kind: "maintenance"; maintenance: MaintenanceSummary };
}

/**
 * Lists entries of a page that ended within the last 14 days of any time zone, including today, newest first: at
 * most 100 incidents and 100 maintenances. The status document has only open ones. `now` in unix
 * ms.
 */
export function readPastEntries(reader: Reader, pageId: string, now: number): HistoryEntry[] {
  const since = startOfDay(now) - PAST_DAYS * DAY_MS;
  const from = since - LONGEST_MAINTENANCE_MS;
  return inOrder(
    listEndedIncidents(reader, { pageId, since, limit: PAST_MAX }),
    listEndedMaintenance(reader, { pageId, from, since, limit: PAST_MAX }),
  );
}

/** One part of a history, with the cursor of the next one, if there is one. */
interface HistoryPart {
  entries: HistoryEntry[];
  next: SummaryCursor | undefined;
}

/**
 * Lists entries of a page that started within a span (unix ms, end exclusive), newest first, at
 * most `limit`: from the end of the span, or after the cursor of the previous part.
 */
export function readHistory(
  reader: Reader,
  span: { pageId: string; from: number; to: number; before?: SummaryCursor | undefined },
  limit: number,
): HistoryPart {
  const { before = { at: span.to, id: "" } } = span;
  const desired = { ...span, before, limit: limit + 1 };
  const entriesAndOneMore = inOrder(
    listIncidentsBetween(reader, desired),
    listMaintenanceBetween(reader, desired),
  );
  return partOf(entriesAndOneMore, limit);
}

/** Returns the first entries, with the cursor of the next part if there are more. */
function partOf(entriesAndOneMore: readonly HistoryEntry[], limit: number): HistoryPart {
  const entries = entriesAndOneMore.slice(0, limit);
  const last = entries.at(-1);
  const isMore = entriesAndOneMore.length > limit && last !== undefined;
  return { entries, next: isMore ? { at: last.from, id: idOf(last) } : undefined };
}

/** Lists the open incidents of a page, newest start first: from the newest, or after the cursor of a part. */
export function readOpenIncidents(
  reader: Reader,
  query: { pageId: string; before?: SummaryCursor | undefined },
  limit: number,
): HistoryPart {
  const before = query.before ?? { at: Number.MAX_SAFE_INTEGER, id: "" };
  const desired = { pageId: query.pageId, before, limit: limit + 1 };
  return partOf(inOrder(listOpenSummariesOf(reader, desired), []), limit);
}

/** Returns the start of a page's history (unix ms): its creation, or an earlier entry. */
export function historyStartOf(reader: Reader, page: Pick<PageRow, "id" | "createdAt">): number {
  const pageId = page.id;
  return Math.min(
    page.createdAt,
    findFirstIncidentStart(reader, { pageId }) ?? page.createdAt,
    findFirstMaintenanceStart(reader, { pageId }) ?? page.createdAt,
  );
}

function inOrder(
  incidents: readonly IncidentSummary[],
  maintenance: readonly MaintenanceSummary[],
): HistoryEntry[] {
  return [
    ...incidents.map((incident): HistoryEntry => {
      const { startedAt: from, resolvedAt: to } = incident;
      return { from, to, subject: { kind: "incident", incident } };
    }),
    ...maintenance.map((one): HistoryEntry => {
      const { startedAt: from, endedAt: to } = one;
      return { from, to, subject: { kind: "maintenance", maintenance: one } };
    }),
  ].sort((a, b) => b.from - a.from || (idOf(a) < idOf(b) ? 1 : -1));
}

function idOf({ subject }: HistoryEntry): string {
  return subject.kind === "incident" ? subject.incident.id : subject.maintenance.id;
}

/* Names of the incidents and maintenance in the charts of a page. */

/** Maximum number of names each of resolved incidents and of maintenances, newest first. */
const NAMES_MAX = 2_000;

/** Maximum length of the kept texts of all pages together, in UTF-16 units. */
const KEPT_MAX_SIZE = 4_000_000;

/** Kind and name of an incident or a maintenance. */
interface EntryName {
  kind: HistoryEntry["subject"]["kind"];
  name: string;
}

/** Names of the incidents and maintenances in the charts of a page. */
export interface EntryNames {
  /** Finds an incident or a maintenance by its id. Drafts, deleted and older ones are missing. */
  find(id: string): EntryName | undefined;
}

/** Reads the names of the incidents and maintenances in the charts of a snapshot, at `now` (unix ms). */
export type ReadEntryNames = (reader: Reader, snapshot: Snapshot, now: number) => EntryNames;

export const readEntryNames: ReadEntryNames = (reader, snapshot, now) =>
  namesFrom(readTexts(reader, snapshot, now));

/**
 * Creates a reader that reads the names once per snapshot, which ends with every change of its page. The
 * result is the same object while no name changes. Only for committed data.
 *
 * Without this cache, the status page after a change takes 1.1 times the processor time (200 components,
 * 1,000 incidents).
 */
export function createEntryNamesCache(): ReadEntryNames {
  const bySnapshot = new WeakMap<Snapshot, EntryNames>();
  const lastOfPage = new LRUCache<string, { texts: readonly NamesText[]; names: EntryNames }>({
    maxSize: KEPT_MAX_SIZE,
    sizeCalculation: ({ texts }) => sum(texts.map(({ json }) => json.length)),
  });

  function read(reader: Reader, snapshot: Snapshot, now: number): EntryNames {
    const { id } = snapshot.document.page;
    const texts = readTexts(reader, snapshot, now);
    const last = lastOfPage.get(id);
    if (last && texts.every(({ json }, index) => json === last.texts[index]?.json)) {
      return last.names;
    }
    const names = namesFrom(texts);
    lastOfPage.set(id, { texts, names });
    return names;
  }

  return (reader, snapshot, now) => {
    let names = bySnapshot.get(snapshot);
    if (!names) bySnapshot.set(snapshot, (names = read(reader, snapshot, now)));
    return names;
  };
}

/** Names by id, as JSON. */
interface NamesText {
  kind: EntryName["kind"];
  json: string;
}

function readTexts(reader: Reader, { document }: Snapshot, now: number): readonly NamesText[] {
  const { id: pageId, history_days: days } = document.page;
  const since = startOfDay(now) - (days - 1) * DAY_MS;
  const from = since - LONGEST_MAINTENANCE_MS;
  const query = { pageId, limit: NAMES_MAX };
  const { open = "{}", resolved = "{}" } = findIncidentNames(reader, { ...query, since }) ?? {};
  const maintenance = findMaintenanceNames(reader, { ...query, from })?.names ?? "{}";
  return [
    { kind: "incident", json: open },
    { kind: "incident", json: resolved },
    { kind: "maintenance", json: maintenance },
  ];
}

/** Returns names that are parsed when the first one is looked up. Pages of cached rows need none. */
function namesFrom(texts: readonly NamesText[]): EntryNames {
  const names = lazy(() => new Map(texts.flatMap(namesIn)));
  return { find: (id) => names().get(id) };
}

function namesIn({ kind, json }: NamesText): [string, EntryName][] {
  return Object.entries<string>(JSON.parse(json)).map(([id, name]) => [id, { kind, name }]);
}
