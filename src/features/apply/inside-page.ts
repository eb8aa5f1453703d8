import { invalidFields, pointer } from "../../base/errors";
import type { Reader } from "../../db/statements";
import {
  createComponent,
  createGroup,
  deleteComponent,
  deleteGroup,
  updateComponent,
  updateGroup,
} from "../components/components";
import {
  type ComponentRow,
  type GroupRow,
  listComponentsOfPage,
  listGroups,
} from "../components/store";
import { listSchedules, type ScheduleRecord } from "../maintenance/schedules/records";
import { createSchedule, deleteSchedule, updateSchedule } from "../maintenance/schedules/schedules";
import type { ScheduleRow } from "../maintenance/schedules/store";
import { findPage, findPageBySlug, type PageRow } from "../pages/store";
import {
  type ComponentEntry,
  desiredComponent,
  desiredGroup,
  desiredSchedule,
  type GroupEntry,
  matchEntries,
  type PageEntries,
  positionsOf,
  presentComponentFields,
  presentGroupFields,
  presentScheduleFields,
} from "./fields";
import type { MonitorList } from "./monitors";
import {
  type ApplyRun,
  type ComponentsOf,
  createComponentsOf,
  type Entry,
  nonDefault,
  type Path,
  RowsByRef,
} from "./run";
import type { FilePage, FileSchedule } from "./schema";

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

type ScheduleWithRef = ScheduleRecord & { ref: string };
type ScheduleEntry = Entry<FileSchedule, ScheduleWithRef>;

/** Applies maintenance schedules, after the pages and their components. */
export function applySchedules(run: ApplyRun, schedules: readonly FileSchedule[]): void {
  const { ctx, tx, options } = run;
  const stored = listSchedules(tx).map((one) => ({ ...one, ref: one.row.ref }));
  const rows = new RowsByRef<ScheduleWithRef>(stored);
  const entries = schedules.map((item, index) =>
    rows.match(item, ["maintenance_schedules", index]),
  );
  // First, so that entries can take the refs of deleted ones.
  run.handleLeftovers("maintenance schedule", stored, entries, (id) =>
    deleteSchedule(ctx, tx, id, options.actor),
  );
  const componentsOf = createComponentsOf(tx);
  for (const entry of entries) applySchedule(run, entry, componentsOf);
}

function applySchedule(run: ApplyRun, entry: ScheduleEntry, componentsOf: ComponentsOf): void {
  const { ctx, tx, options } = run;
  const { item, ref, path, row: stored } = entry;
  const page = run.locatingErrors(path, () => pageOf(run, item));
  const components = run.locatingErrors(path, () => componentIdsOf(item, page, componentsOf));
  const desired = desiredSchedule(item, ref, page.timeZone);
  const { ref: _ref, ...fields } = desired;
  const input = { ...fields, page: page.id, components };
  run.apply<ScheduleRow, Record<string, unknown>>({
    noun: "maintenance schedule",
    label: stored?.ref ?? ref,
    address: null,
    path,
    row: stored?.row,
    current: ({ pageId }) => ({
      ...(stored && presentScheduleFields(stored, componentsOf)),
      page: findPage(tx, { id: pageId })?.slug ?? pageId,
    }),
    desired: { ...desired, page: page.slug },
    create: () => createSchedule(ctx, tx, input, options.actor, { ref, managedBy: "apply" }).row,
    update: (row) => updateSchedule(ctx, tx, row.id, input, options.actor, { ref }).row,
  });
}

/** Returns the page of a schedule, also by an earlier slug. */
function pageOf({ tx }: ApplyRun, { page: slug }: FileSchedule): PageRow {
  const page = findPageBySlug(tx, { slug });
  if (page) return page;
  throw invalidFields([{ pointer: pointer("page"), detail: `is not the slug of a page: ${slug}` }]);
}

/** Returns the ids of the components of a schedule. Throws for a ref that the page does not have. */
function componentIdsOf(
  { components = [] }: FileSchedule,
  page: PageRow,
  componentsOf: ComponentsOf,
): string[] {
  const ids = new Map(componentsOf(page.id).map(({ ref, id }) => [ref, id]));
  return components.map((ref, index) => {
    const id = ids.get(ref);
    if (id !== undefined) return id;
    const detail = `is not the ref of a component of the page ${page.slug}: ${ref}`;
    throw invalidFields([{ pointer: pointer("components", index), detail }]);
  });
}

/** Returns the maintenance schedules of these pages for the file, oldest first. */
export function exportSchedules(reader: Reader, pages: readonly PageRow[]): FileSchedule[] {
  const byId = new Map(pages.map((page) => [page.id, page]));
  const componentsOf = createComponentsOf(reader);
  return listSchedules(reader)
    .toReversed()
    .flatMap((record) => {
      const page = byId.get(record.row.pageId);
      if (!page) return [];
      const fields = presentScheduleFields(record, componentsOf);
      const { name, ref, body, cron, duration_minutes } = fields;
      const required = { body, cron, duration_minutes };
      const least = desiredSchedule({ name, ...required }, ref, page.timeZone);
      return [{ name, ref, page: page.slug, ...required, ...nonDefault(fields, least) }];
    });
}
