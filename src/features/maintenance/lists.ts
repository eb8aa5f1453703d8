import type { Reader } from "../../db";
import { countWithin, CUT_COMPONENTS, DOCUMENT_ROWS_MAX, LIST_ROWS_MAX } from "../timeline";
import { listFirstComponents, listRowCounts, listTextSizes } from "./list-store";
import { listComponentsOfMaintenances, type MaintenanceRecord } from "./store";

/** The updates that are shown of each where several maintenances are shown. */
export const UPDATES_IN_LISTS = 20;

type Components = MaintenanceRecord["components"];

/** Returns the number of leading maintenances, at least 1, that one page of an API list may show. */
export function countForPage(
  reader: Reader,
  found: readonly Pick<MaintenanceRecord, "row">[],
): number {
  const ids = found.map(({ row }) => row.id);
  const desired = JSON.stringify(ids);
  const texts = new Map(
    listTextSizes(reader, { ids: desired, each: UPDATES_IN_LISTS }).map(({ id, bytes }) => [
      id,
      bytes,
    ]),
  );
  const sizes = listRowCounts(reader, { ids: desired, most: LIST_ROWS_MAX + 1 }).map((size) => ({
    ...size,
    textBytes: texts.get(size.id) ?? 0,
  }));
  return Math.max(1, countWithin(ids, sizes, LIST_ROWS_MAX));
}

/**
 * Reads the components of all maintenances that one document lists, by the ids of these. A maintenance
 * beyond the budget of the document has at most 20, and `isCut` is true where it has more.
 */
export function componentsForDocument(
  reader: Reader,
  ids: readonly string[],
): Map<string, { components: Components; isCut: boolean }> {
  const count = countLeading(reader, ids, DOCUMENT_ROWS_MAX);
  const whole = listComponentsOfMaintenances(reader, { ids: JSON.stringify(ids.slice(0, count)) });
  const cut = ids.slice(count);
  const first =
    cut.length === 0
      ? []
      : listFirstComponents(reader, { ids: JSON.stringify(cut), each: CUT_COMPONENTS + 1 });
  const byId = Map.groupBy([...whole, ...first], (component) => component.maintenanceId);
  return new Map(
    ids.map((id, index) => {
      const components = byId.get(id) ?? [];
      const isCut = index >= count && components.length > CUT_COMPONENTS;
      return [id, { components: isCut ? components.slice(0, CUT_COMPONENTS) : components, isCut }];
    }),
  );
}

function countLeading(reader: Reader, ids: readonly string[], most: number): number {
  return countWithin(
    ids,
    listRowCounts(reader, { ids: JSON.stringify(ids), most: most + 1 }),
    most,
  );
}
