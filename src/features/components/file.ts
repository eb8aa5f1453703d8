/* Groups and components in the configuration file: their schemas, `applyComponents` and `exportComponents`. */
import { type Static, Type } from "@sinclair/typebox";
import { validate } from "../../base/validation";
import type { Reader } from "../../db/statements";
import {
  type ApplyRun,
  type Entry,
  nonDefault,
  type Path,
  PreviousRefs,
  RowsByRef,
} from "../apply/run";
import { type ExportedMonitors, type MonitorList, FileMonitors } from "../monitors/file";
import type { PageRow } from "../pages/store";
import {
  createComponent,
  createGroup,
  deleteComponent,
  deleteGroup,
  updateComponent,
  updateGroup,
} from "./components";
import { type ComponentRow, type GroupRow, listComponentsOfPage, listGroups } from "./store";
import { ComponentInput, GroupInput, PartialComponentInput, PartialGroupInput } from "./wire";

/** A component in a file, with the monitors that watch it. */
export const FileComponent = Type.Object(
  { ...ComponentInput.properties, previous_refs: PreviousRefs, monitors: FileMonitors },
  { additionalProperties: false },
);
export type FileComponent = Static<typeof FileComponent>;

/** A group in a file, with its components. */
export const FileGroup = Type.Object(
  {
    ...GroupInput.properties,
    previous_refs: PreviousRefs,
    components: Type.Optional(Type.Array(FileComponent)),
  },
  { additionalProperties: false },
);
export type FileGroup = Static<typeof FileGroup>;

/** Groups and components of a page in a file. */
interface FileComponents {
  groups?: FileGroup[];
  /** Those without a group. */
  components?: FileComponent[];
}

/**
 * Applies the groups and components of a page. Returns the monitors of its components, to be
 * applied after all pages.
 */
export function applyComponents(
  run: ApplyRun,
  page: PageRow,
  desired: FileComponents,
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

type ComponentEntry = Entry<FileComponent, ComponentRow>;

interface GroupEntry extends Entry<FileGroup, GroupRow> {
  components: ComponentEntry[];
}

/** Objects of a page, in the file's order. */
interface PageEntries {
  /** Components without a group. */
  ungrouped: ComponentEntry[];
  groups: GroupEntry[];
}

/** Finds the row of each group and component of a page in the file, by refs. */
function matchEntries(
  desired: FileComponents,
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

/**
 * Returns the position of each entry. If the rows of all lists are in the order of the file,
 * positions stay; else the whole page is numbered from 0.
 */
function positionsOf(page: PageEntries): Map<GroupEntry | ComponentEntry, number> {
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
      createGroup(
        ctx,
        tx,
        page,
        validate(GroupInput, input),
        { position, managedBy: "apply" },
        options.actor,
      ),
    update: (stored, { position: _position, ...fields }) =>
      updateGroup(ctx, tx, stored.id, validate(PartialGroupInput, fields), options.actor, {
        position,
      }),
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
      createComponent(
        ctx,
        tx,
        page,
        validate(ComponentInput, input),
        { ...place, managedBy: "apply" },
        options.actor,
      ),
    update: (stored, { group: _group, position: _position, ...fields }) =>
      updateComponent(
        ctx,
        tx,
        stored.id,
        validate(PartialComponentInput, fields),
        options.actor,
        place,
      ),
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
    row.managedBy === "apply" && !matched.has(row.id);
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

/** Returns the groups and components of a page for the file, with the monitors `below` them. */
export function exportComponents(
  reader: Reader,
  { id: pageId }: PageRow,
  { below }: ExportedMonitors,
): FileComponents {
  const byGroup = Map.groupBy(listComponentsOfPage(reader, { pageId }), ({ groupId }) => groupId);
  const componentsIn = (groupId: string | null) => {
    const components = byGroup.get(groupId) ?? [];
    return components.length > 0
      ? { components: components.map((one) => exportComponent(one, below)) }
      : {};
  };
  const groups = listGroups(reader, { pageId }).map((group) => {
    const { id, name, ref } = group;
    const own = nonDefault(presentGroupFields(group), desiredGroup({ name }, ref));
    return { name, ref, ...own, ...componentsIn(id) };
  });
  return { ...componentsIn(null), ...(groups.length > 0 ? { groups } : {}) };
}

function exportComponent(row: ComponentRow, below: ExportedMonitors["below"]): FileComponent {
  const { id, name, ref } = row;
  const monitors = below.get(id);
  return {
    name,
    ref,
    ...nonDefault(presentComponentFields(row), desiredComponent({ name }, ref)),
    ...(monitors ? { monitors } : {}),
  };
}

/*
 * Desired and current fields by the names in the file, for comparison. Fields that a file leaves out have their
 * defaults. `Required` makes the compiler report a new field that is missing here.
 */

function desiredGroup(group: GroupInput, ref: string): Required<GroupInput> {
  const { name, description = null, collapse = "expanded" } = group;
  return { name, ref, description, collapse };
}

function presentGroupFields(row: GroupRow): Required<GroupInput> {
  const { name, ref, description, collapse } = row;
  return { name, ref, description, collapse };
}

function desiredComponent(component: ComponentInput, ref: string): Required<ComponentInput> {
  return {
    name: component.name,
    ref,
    description: component.description ?? null,
    showcase: component.showcase ?? true,
    start_date: component.start_date ?? null,
    only_show_if_degraded: component.only_show_if_degraded ?? false,
    show_latency: component.show_latency ?? false,
    uptime_goal: component.uptime_goal ?? null,
    tags: component.tags ?? [],
  };
}

function presentComponentFields(row: ComponentRow): Required<ComponentInput> {
  return {
    name: row.name,
    ref: row.ref,
    description: row.description,
    showcase: row.showcase,
    start_date: row.startDate,
    only_show_if_degraded: row.onlyShowIfDegraded,
    show_latency: row.showLatency,
    uptime_goal: row.uptimeGoal,
    tags: row.tags,
  };
}
