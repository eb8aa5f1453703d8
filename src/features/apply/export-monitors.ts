import type { Reader } from "../../db";
import { listComponentsOfPage, listGroups } from "../components";
import { declareMonitor, listStoredMonitors, type StoredMonitor } from "../monitors";
import type { PageRow } from "../pages";
import { readComponentRefs } from "./component-refs";
import type { FileMonitor } from "./model";

/** Monitors as a file has them. */
export interface ExportedMonitors {
  /** By the id of the component that they stand below: the first in the file of those that they watch. */
  below: ReadonlyMap<string, FileMonitor[]>;
  /** Those that watch none. */
  alone: FileMonitor[];
}

/** The monitors that watch components of these pages, in the pages' order, and those that watch none. */
export function exportMonitors(reader: Reader, pages: readonly PageRow[]): ExportedMonitors {
  const monitors = listStoredMonitors(reader);
  const refs = monitors.length > 0 ? readComponentRefs(reader) : undefined;
  const order = pages.flatMap((page) => componentsInOrder(reader, page));
  const places = new Map(order.map((id, place) => [id, place]));
  const placeOf = (id: string) => places.get(id) ?? order.length;
  const below = new Map<string, FileMonitor[]>();
  const alone: FileMonitor[] = [];
  for (const monitor of monitors) {
    const [first, ...others] = monitor.componentIds.toSorted((a, b) => placeOf(a) - placeOf(b));
    const exported = exportMonitor(
      monitor,
      others.map((id) => refs?.nameOf(id) ?? id),
    );
    if (first === undefined) alone.push(exported);
    else if (places.has(first)) below.set(first, [...(below.get(first) ?? []), exported]);
  }
  return { below, alone };
}

function exportMonitor({ row }: StoredMonitor, components: string[]): FileMonitor {
  const { name, ...declared } = declareMonitor(row);
  return { name, ref: row.ref, ...declared, ...(components.length > 0 && { components }) };
}

/** The ids of a page's components as a file has them: those without a group first. */
function componentsInOrder(reader: Reader, { id: pageId }: PageRow): string[] {
  const byGroup = Map.groupBy(listComponentsOfPage(reader, { pageId }), ({ groupId }) => groupId);
  const groups = [null, ...listGroups(reader, { pageId }).map(({ id }) => id)];
  return groups.flatMap((group) => (byGroup.get(group) ?? []).map(({ id }) => id));
}
