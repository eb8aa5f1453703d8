import type { Reader } from "../../db";
import { type Author, authorsOf } from "../../events";
import {
  type ComponentRow,
  type GroupRow,
  listComponentsOfPage,
  listGroups,
} from "../../features/components";
import { getPage, type PageRow } from "../../features/pages";

/** Number of components of a page above which forms fold its groups. */
const UNFOLDED_MAX = 12;

/** Components of a page that a form lists, in page order, and their groups. */
export interface PageComponents {
  components: readonly Pick<ComponentRow, "id" | "name" | "groupId" | "status">[];
  groups: readonly Pick<GroupRow, "id" | "name">[];
}

export function readPageComponents(reader: Reader, pageId: string): PageComponents {
  return {
    components: listComponentsOfPage(reader, { pageId }),
    groups: listGroups(reader, { pageId }),
  };
}

/**
 * Returns a form's rows of components by group: those without a group first, without empty groups.
 * `isFolded` is true if there are so many that groups start folded.
 */
export function rowsByGroup<Row>(
  { components, groups }: PageComponents,
  toRow: (component: PageComponents["components"][number]) => Row,
): { parts: { key: string; title?: string; rows: Row[] }[]; isFolded: boolean } {
  const byGroup = Map.groupBy(components, ({ groupId }) => groupId);
  const rowsOf = (groupId: string | null) => (byGroup.get(groupId) ?? []).map(toRow);
  const parts = [
    { key: "", rows: rowsOf(null) },
    ...groups.map(({ id, name }) => ({ key: id, title: name, rows: rowsOf(id) })),
  ];
  return {
    parts: parts.filter(({ rows }) => rows.length > 0),
    isFolded: components.length > UNFOLDED_MAX,
  };
}

/** Related data that the screens of an incident or a maintenance show. */
export interface TimelineView extends PageComponents {
  page: PageRow;
  /** Authors by update id, if known. */
  authors: ReadonlyMap<string, Author>;
}

/** Reads the related data. `actions` are the audit log actions that write an update. */
export function readTimelineView(
  reader: Reader,
  record: {
    row: { id: string; pageId: string };
    updates: readonly { id: string; createdAt: number }[];
  },
  actions: readonly string[],
): TimelineView {
  const { id, pageId } = record.row;
  // Ids sort by the time of writing.
  const written = record.updates.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return {
    page: getPage(reader, pageId),
    ...readPageComponents(reader, pageId),
    authors: authorsOf(reader, id, actions, written),
  };
}
