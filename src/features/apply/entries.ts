import type { ComponentRow, GroupRow } from "../components/store";
import type { Path } from "./locate";
import { type Named, refOf } from "./semantics";
import type { FileComponent, FileGroup, FilePage } from "./model";

/** An entry of a page in the file, and its row if it exists. */
export interface Entry<Item, Row> {
  item: Item;
  ref: string;
  /** Position in the file. */
  path: Path;
  row: Row | undefined;
}

export type ComponentEntry = Entry<FileComponent, ComponentRow>;

export interface GroupEntry extends Entry<FileGroup, GroupRow> {
  components: ComponentEntry[];
}

/** Objects of a page, in the file's order. */
export interface PageEntries {
  /** Components without a group. */
  ungrouped: ComponentEntry[];
  groups: GroupEntry[];
}

/** Finds the row of each group and component of a page in the file, by refs. */
export function matchEntries(
  desired: FilePage,
  path: Path,
  current: { groups: readonly GroupRow[]; components: readonly ComponentRow[] },
): PageEntries {
  const groups = new RowsByRef(current.groups);
  const components = new RowsByRef(current.components);
  const entriesOf = (items: readonly FileComponent[] | undefined, at: Path) =>
    (items ?? []).map((item, index) => components.match(item, [...at, "components", index]));
  return {
    ungrouped: entriesOf(desired.components, path),
    groups: (desired.groups ?? []).map((item, index) => {
      const at = [...path, "groups", index];
      return { ...groups.match(item, at), components: entriesOf(item.components, at) };
    }),
  };
}

/** Rows of one kind by ref. */
export class RowsByRef<Row extends { ref: string }> {
  readonly #rows: Map<string, Row>;

  constructor(rows: readonly Row[]) {
    this.#rows = new Map(rows.map((row) => [row.ref, row]));
  }

  /** Finds the row of an entry by its ref or an earlier one; no two entries get the same row. */
  match<Item extends Named>(item: Item, path: Path): Entry<Item, Row> {
    const ref = refOf(item);
    const stored = [ref, ...(item.previous_refs ?? [])].find((one) => this.#rows.has(one));
    const row = stored === undefined ? undefined : this.#rows.get(stored);
    if (row) this.#rows.delete(row.ref);
    return { item, ref, path, row };
  }
}

/**
 * Returns the position of each entry. If the rows of all lists are in the order of the file,
 * positions stay; else the whole page is numbered from 0.
 */
export function positionsOf(page: PageEntries): Map<GroupEntry | ComponentEntry, number> {
  const components = [page.ungrouped, ...page.groups.map((group) => group.components)].flat();
  const keepsAll = isInOrder(page);
  return new Map(
    [page.groups, components].flatMap((list) =>
      list.map((entry, index) => {
        const kept = keepsAll ? entry.row?.position : undefined;
        return [entry, kept ?? index] as const;
      }),
    ),
  );
}

function isInOrder({ ungrouped, groups }: PageEntries): boolean {
  return (
    isAscending(groups) &&
    isAscending(ungrouped) &&
    ungrouped.every(({ row }) => row?.groupId === null) &&
    groups.every(
      (group) =>
        isAscending(group.components) &&
        group.components.every(({ row }) => row?.groupId === group.row?.id),
    )
  );
}

/** Returns true if all rows exist and are in the order of lists: by position, then by id. */
function isAscending(
  entries: readonly { row: { id: string; position: number } | undefined }[],
): boolean {
  return entries.every(({ row }, index) => {
    if (!row) return false;
    const before = entries[index - 1]?.row;
    if (!before) return index === 0;
    const gap = row.position - before.position;
    return gap > 0 || (gap === 0 && row.id > before.id);
  });
}
