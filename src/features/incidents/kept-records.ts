import { LRUCache } from "lru-cache";
import { type IncidentRecord, type ReadRecords, toRecords } from "./records";

/** In UTF-16 units of texts: some thousand updates of usual length. */
const KEPT_MAX_LENGTH = 4_000_000;
/** What an update and what a component of a record take beside texts. */
const EACH_LENGTH = 500;

type Told = Pick<IncidentRecord, "components" | "updates">;

/**
 * Reads records as `toRecords` does, of each incident once a version: nothing that an incident tells ever
 * changes without it. Only for committed data: a version that is rolled back comes again with something
 * else.
 */
export function createKeptRecords(): ReadRecords {
  const kept = new LRUCache<string, Told>({
    maxSize: KEPT_MAX_LENGTH,
    sizeCalculation: ({ components, updates }) =>
      updates.reduce(
        (sum, { body }) => sum + body.length + EACH_LENGTH,
        (components.length + 1) * EACH_LENGTH,
      ),
  });
  return (reader, found) => {
    const known = found.map(({ row }) => kept.get(`${row.id} ${row.version}`));
    const read = toRecords(
      reader,
      found.filter((_, index) => known[index] === undefined),
    );
    for (const { row, components, updates } of read) {
      kept.set(`${row.id} ${row.version}`, { components, updates });
    }
    const fresh = new Map(read.map((record) => [record.row.id, record]));
    return found.map(({ row, page }, index) => {
      const { components, updates } = known[index] ?? fresh.get(row.id) ?? NOTHING_TOLD;
      return { row, page, components, updates };
    });
  };
}

const NOTHING_TOLD: Told = { components: [], updates: [] };
