import {
  type ComponentRow,
  type GroupRow,
  listComponentsOfPage,
  listGroups,
} from "../components/store";
import {
  createComponent,
  createGroup,
  deleteComponent,
  deleteGroup,
  updateComponent,
  updateGroup,
} from "../components/components";
import type { PageRow } from "../pages/store";
import {
  type ComponentEntry,
  type GroupEntry,
  matchEntries,
  type PageEntries,
  positionsOf,
} from "./entries";
import {
  presentComponentFields,
  presentGroupFields,
  desiredComponent,
  desiredGroup,
} from "./fields";
import type { Path } from "./locate";
import type { FilePage } from "./model";
import type { MonitorList } from "./monitors";
import type { ApplyRun } from "./run";

const MANAGED_BY = "apply" as const;

/**
 * Applies the groups and components of a page. Returns the monitors of its components, to be
 * applied after all pages.
 */
export function applyInside(
  run: ApplyRun,
  page: PageRow,
  desired: FilePage,
  path: Path,
): MonitorList[] {
  // Read once, since a search per entry would take quadratic time.
  const current = {
    groups: listGroups(run.tx, { pageId: page.id }),
    components: listComponentsOfPage(run.tx, { pageId: page.id }),
  };
  const entries = matchEntries(desired, path, current);
  const positions = positionsOf(entries);
  const positionOf = (entry: GroupEntry | ComponentEntry) => positions.get(entry) ?? 0;
  const refs = refsOfGroups(current.groups, entries.groups);
  const monitorLists: MonitorList[] = [];
  const apply = (entry: ComponentEntry, groupId: string | null) => {
    const place = { position: positionOf(entry), groupId };
    const { id: componentId } = applyComponent(run, page, entry, place, refs);
    const { monitors = [] } = entry.item;
    monitorLists.push({ monitors, path: [...entry.path, "monitors"], componentId });
  };

  for (const entry of entries.ungrouped) apply(entry, null);
  for (const group of entries.groups) {
    const { id } = applyGroup(run, page, group, positionOf(group));
    refs.set(id, group.ref);
    for (const entry of group.components) apply(entry, id);
  }
  handleLeftoversOfPage(run, page, current, entries);
  return monitorLists;
}

/** Returns the ref of each group of a page, by group id. */
function refsOfGroups(
  rows: readonly GroupRow[],
  entries: readonly GroupEntry[],
): Map<string, string> {
  return new Map([
    ...rows.map(({ id, ref }) => [id, ref] as const),
    ...entries.flatMap(({ row, ref }) => (row ? [[row.id, ref] as const] : [])),
  ]);
}

function applyGroup(run: ApplyRun, page: PageRow, entry: GroupEntry, position: number): GroupRow {
  const { ctx, tx, options } = run;
  const { item, ref, path, row } = entry;
  const input = desiredGroup(item, ref);
  return run.apply({
    noun: "group",
    label: `${page.slug}/${ref}`,
    address: null,
    path,
    row,
    current: (stored) => ({ ...presentGroupFields(stored), position: stored.position }),
    desired: { ...input, position },
    create: () =>
      createGroup(ctx, tx, page, input, { position, managedBy: MANAGED_BY }, options.actor),
    update: (stored, fields) => updateGroup(ctx, tx, stored.id, fields, options.actor),
  });
}

function applyComponent(
  run: ApplyRun,
  page: PageRow,
  entry: ComponentEntry,
  place: { position: number; groupId: string | null },
  refs: ReadonlyMap<string, string>,
): ComponentRow {
  const { ctx, tx, options } = run;
  const { item, ref, path, row } = entry;
  const input = desiredComponent(item, ref);
  // Shown by its ref, since readers of the changes do not know its id.
  const groupRef = (id: string | null) => (id === null ? null : refs.get(id));
  return run.apply({
    noun: "component",
    label: `${page.slug}/${ref}`,
    address: `${page.slug}:${ref}`,
    path,
    row,
    current: (stored) => ({
      ...presentComponentFields(stored),
      position: stored.position,
      group: groupRef(stored.groupId),
    }),
    desired: { ...input, position: place.position, group: groupRef(place.groupId) },
    create: () =>
      createComponent(ctx, tx, page, input, { ...place, managedBy: MANAGED_BY }, options.actor),
    update: (stored, { group: _group, ...fields }) =>
      updateComponent(ctx, tx, stored.id, { ...fields, groupId: place.groupId }, options.actor),
  });
}

/** Handles the leftovers among the groups and components of a page: those without an entry. */
function handleLeftoversOfPage(
  run: ApplyRun,
  page: PageRow,
  current: Parameters<typeof matchEntries>[2],
  { ungrouped, groups }: PageEntries,
): void {
  const { ctx, tx, options } = run;
  const matched = new Set(
    [...groups, ...ungrouped, ...groups.flatMap(({ components }) => components)].map(
      ({ row }) => row?.id,
    ),
  );
  const isLeftover = (row: { id: string; managedBy: string | null }) =>
    row.managedBy === MANAGED_BY && !matched.has(row.id);
  for (const { id, ref } of current.components.filter(isLeftover)) {
    const remove = () => deleteComponent(ctx, tx, id, options.actor);
    run.handleLeftover("component", `${page.slug}/${ref}`, remove);
  }
  for (const { id, ref } of current.groups.filter(isLeftover)) {
    run.handleLeftover("group", `${page.slug}/${ref}`, () =>
      deleteGroup(ctx, tx, id, options.actor),
    );
  }
}
