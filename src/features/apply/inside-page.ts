import {
  type ComponentRow,
  createComponent,
  createGroup,
  deleteComponent,
  deleteGroup,
  type GroupRow,
  listComponentsOfPage,
  listGroups,
  updateComponent,
  updateGroup,
} from "../components";
import type { PageRow } from "../pages";
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
  const present = {
    groups: listGroups(run.tx, { pageId: page.id }),
    components: listComponentsOfPage(run.tx, { pageId: page.id }),
  };
  const entries = matchEntries(desired, path, present);
  const positions = positionsOf(entries);
  const positionOf = (entry: GroupEntry | ComponentEntry) => positions.get(entry) ?? 0;
  const refs = refsOfGroups(present.groups, entries.groups);
  const homes: MonitorList[] = [];
  const apply = (entry: ComponentEntry, groupId: string | null) => {
    const place = { position: positionOf(entry), groupId };
    const { id: componentId } = applyComponent(run, page, entry, place, refs);
    const { monitors = [] } = entry.item;
    homes.push({ monitors, path: [...entry.path, "monitors"], componentId });
  };

  for (const entry of entries.ungrouped) apply(entry, null);
  for (const group of entries.groups) {
    const { id } = applyGroup(run, page, group, positionOf(group));
    refs.set(id, group.ref);
    for (const entry of group.components) apply(entry, id);
  }
  leaveTheRest(run, page, present, entries);
  return homes;
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
    present: (known) => ({ ...presentGroupFields(known), position: known.position }),
    desired: { ...input, position },
    create: () =>
      createGroup(ctx, tx, page, input, { position, managedBy: MANAGED_BY }, options.actor),
    update: (known, fields) => updateGroup(ctx, tx, known.id, fields, options.actor),
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
    present: (known) => ({
      ...presentComponentFields(known),
      position: known.position,
      group: groupRef(known.groupId),
    }),
    desired: { ...input, position: place.position, group: groupRef(place.groupId) },
    create: () =>
      createComponent(ctx, tx, page, input, { ...place, managedBy: MANAGED_BY }, options.actor),
    update: (known, { group: _group, ...fields }) =>
      updateComponent(ctx, tx, known.id, { ...fields, groupId: place.groupId }, options.actor),
  });
}

/** Keeps objects without an entry, unless an earlier apply created them and this one prunes. */
function leaveTheRest(
  run: ApplyRun,
  page: PageRow,
  present: Parameters<typeof matchEntries>[2],
  { ungrouped, groups }: PageEntries,
): void {
  const { ctx, tx, options } = run;
  const meant = new Set(
    [...groups, ...ungrouped, ...groups.flatMap(({ components }) => components)].map(
      ({ row }) => row?.id,
    ),
  );
  const isLeftover = (row: { id: string; managedBy: string | null }) =>
    row.managedBy === MANAGED_BY && !meant.has(row.id);
  for (const { id, ref } of present.components.filter(isLeftover)) {
    const remove = () => deleteComponent(ctx, tx, id, options.actor);
    run.leave("component", `${page.slug}/${ref}`, remove);
  }
  for (const { id, ref } of present.groups.filter(isLeftover)) {
    run.leave("group", `${page.slug}/${ref}`, () => deleteGroup(ctx, tx, id, options.actor));
  }
}
