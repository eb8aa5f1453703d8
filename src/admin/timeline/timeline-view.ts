import type { Reader } from "../../db/statements";
import { type Author, authorsOf } from "../../events/authors";
import { getPage } from "../../features/pages/service";
import type { PageRow } from "../../features/pages/store";
import { type PageComponents, readPageComponents } from "../forms/components-field";

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
