import { LRUCache } from "lru-cache";
import { type IncidentRecord, type ReadRecords, toRecords } from "./records";

/** In UTF-16 units of texts: some thousand updates of usual length. */
const KEPT_MAX_LENGTH = 4_000_000;
/** What an update, and each component that a record or an update names, takes beside texts. */
const EACH_LENGTH = 500;

interface KeptIncident extends Pick<IncidentRecord, "components" | "updates"> {
  version: number;
}

/**
 * Reads records as `toRecords` does, and keeps what each tells for its incident's version: every change
 * of it raises that (`settle`). Only for committed data: a version that is rolled back comes again with
 * something else.
 */
export function createKeptRecords(): ReadRecords {
  const kept = new LRUCache<string, KeptIncident>({
    maxSize: KEPT_MAX_LENGTH,
    sizeCalculation: lengthOf,
  });
  return (reader, found) => {
    const told = new Map<string, KeptIncident>();
    for (const { row } of found) {
      const known = kept.get(row.id);
      if (known?.version === row.version) told.set(row.id, known);
    }
    const missing = found.filter(({ row }) => !told.has(row.id));
    const read = missing.length === 0 ? [] : toRecords(reader, missing);
    for (const { row, components, updates } of read) {
      const fresh = { version: row.version, components, updates };
      kept.set(row.id, fresh);
      told.set(row.id, fresh);
    }
    return found.flatMap(({ row, page }) => {
      const own = told.get(row.id);
      return own ? [{ row, page, components: own.components, updates: own.updates }] : [];
    });
  };
}

function lengthOf({ components, updates }: KeptIncident): number {
  let length = (1 + components.length) * EACH_LENGTH;
  for (const { body, components: named } of updates) {
    length += body.length + (1 + named.length) * EACH_LENGTH;
  }
  return length;
}
