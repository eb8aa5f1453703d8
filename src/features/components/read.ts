import type { Reader } from "../../db";
import { findPage } from "../pages";
import { type CauseRow, listOpenCauses, listOpenCausesOf } from "./cause-store";
import { type Component, presentComponent } from "./model";
import { getComponentRow } from "./service";
import { findComponents } from "./store";

/** Returns a component as the API shows it. Throws `not_found`. */
export function getComponent(reader: Reader, id: string): Component {
  const row = getComponentRow(reader, id);
  return presentComponent(
    row,
    createSlugLookup(reader)(row.pageId),
    listOpenCauses(reader, { componentId: row.id }),
  );
}

/** Returns components as the API shows them, in the order of the ids. Unknown ones are left out. */
export function listComponentsByIds(reader: Reader, ids: readonly string[]): Component[] {
  const causes = listCausesByComponent(reader, ids);
  const slugOf = createSlugLookup(reader);
  return Array.from(findComponents(reader, ids).values(), (row) =>
    presentComponent(row, slugOf(row.pageId), causes.get(row.id) ?? []),
  );
}

/** Returns the open causes of some components, by component. */
export function listCausesByComponent(
  reader: Reader,
  ids: readonly string[],
): ReadonlyMap<string, CauseRow[]> {
  return Map.groupBy(
    listOpenCausesOf(reader, { ids: JSON.stringify(ids) }),
    (cause) => cause.componentId,
  );
}

/** Returns a function from a page's id to its slug that reads each page once. */
export function createSlugLookup(reader: Reader): (pageId: string) => string {
  const slugs = new Map<string, string>();
  return (pageId) => {
    const slug = slugs.get(pageId) ?? findPage(reader, { id: pageId })?.slug ?? "";
    slugs.set(pageId, slug);
    return slug;
  };
}
