/* Names of the incidents and maintenance in the charts of a page. */
import { LRUCache } from "lru-cache";
import { lazy } from "../../base/lazy";
import { sum } from "../../base/numbers";
import { DAY_MS, startOfDay } from "../../base/time";
import type { Reader } from "../../db/statements";
import { findIncidentNames } from "../incidents/store";
import { findMaintenanceNames } from "../maintenance/store";
import { type HistoryEntry, LONGEST_MAINTENANCE_MS } from "./past-entries";
import type { Snapshot } from "./snapshots";

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
