import { LRUCache } from "lru-cache";
import type { Reader } from "../../db";
import { countWhole, type ReadRecords, toCutRecords } from "./lists";
import { type Found, type IncidentRecord, toRecords } from "./records";

/** In UTF-16 units of texts: some thousand updates of usual length. */
const KEPT_MAX_LENGTH = 4_000_000;
/** Estimated size of an update and of each named component, besides texts. */
const EACH_LENGTH = 500;

interface CachedIncident extends Omit<IncidentRecord, "row" | "page"> {
  version: number;
}

/**
 * Reads records as `toDocumentRecords` does, and keeps what each tells for its incident's version: every
 * change of it raises that (`settle`). Only for committed data: a version that is rolled back comes again
 * with something else.
 */
export function createIncidentCache(): ReadRecords {
  const kept = new LRUCache<string, CachedIncident>({
    maxSize: KEPT_MAX_LENGTH,
    sizeCalculation: lengthOf,
  });

  /** Returns records of one kind, reading by `read` those that are not kept. */
  function readKept(
    reader: Reader,
    found: readonly Found[],
    kind: "whole" | "cut",
    read: ReadRecords,
  ): IncidentRecord[] {
    const keyOf = ({ row }: Pick<Found, "row">) => `${kind} ${row.id}`;
    const told = new Map<string, CachedIncident>();
    for (const { row } of found) {
      const known = kept.get(keyOf({ row }));
      if (known?.version === row.version) told.set(row.id, known);
    }
    const missing = found.filter(({ row }) => !told.has(row.id));
    const fresh = missing.length === 0 ? [] : read(reader, missing);
    for (const { row, page: _, ...rest } of fresh) {
      const record = { version: row.version, ...rest };
      kept.set(keyOf({ row }), record);
      told.set(row.id, record);
    }
    return found.flatMap(({ row, page }) => {
      const own = told.get(row.id);
      if (!own) return [];
      const { version: _, ...rest } = own;
      return [{ row, page, ...rest }];
    });
  }

  return (reader, found) => {
    const count = countWhole(
      reader,
      found.map(({ row }) => row.id),
    );
    return [
      ...readKept(reader, found.slice(0, count), "whole", toRecords),
      ...readKept(reader, found.slice(count), "cut", toCutRecords),
    ];
  };
}

function lengthOf({ components, updates }: CachedIncident): number {
  let length = (1 + components.length) * EACH_LENGTH;
  for (const { body, components: named } of updates) {
    length += body.length + (1 + named.length) * EACH_LENGTH;
  }
  return length;
}
