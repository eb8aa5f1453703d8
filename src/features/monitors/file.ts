/* Monitors in the configuration file: their schema, `applyMonitors` and `exportMonitors`. */
import { type Static, Type } from "@sinclair/typebox";
import { invalidFields, pointer } from "../../base/errors";
import type { Manager } from "../../base/ids";
import { Text } from "../../base/schema";
import { LOCAL } from "../../base/status";
import { RefText } from "../../base/texts";
import { FieldErrors } from "../../base/validation";
import type { Reader, Tx } from "../../db/statements";
import {
  type ApplyRun,
  componentOrder,
  type Entry,
  type Path,
  PreviousRefs,
  refOf,
  RowsByRef,
} from "../apply/run";
import { listComponentsOfPage } from "../components/store";
import { findPageBySlug, listAllPages, type PageRow } from "../pages/store";
import {
  type DeclarableMonitor,
  declaredMonitorSchema,
  declareMonitor,
  isDeclarable,
  listStoredMonitors,
  planMonitor,
} from "./declared";
import { findInvalidChain } from "./dependencies";
import { isCheckedRemotely, readLocations, readMonitorLocations } from "./monitor-locations";
import type { MonitorRecord } from "./records";
import { findMonitor, findMonitorByRef, type MonitorRow } from "./store";
import { deleteMonitor } from "./monitors";
import { MONITOR_LOCATIONS_MAX, PARENTS_MAX } from "./wire";

/** Fields of a monitor that only files have. */
interface MonitorMore {
  ref?: string;
  previous_refs?: string[];
  /** Components that it watches in addition to the one it is nested in: `page-slug/component-ref`. */
  components?: string[];
  /** Refs of monitors on which it depends. */
  depends_on?: string[];
  /** Refs of locations that check it; `local` is the server. */
  locations?: string[];
}

/** A monitor in a file. */
export const FileMonitor = declaredMonitorSchema<MonitorMore>({
  ref: Type.Optional(RefText),
  previous_refs: PreviousRefs,
  components: Type.Optional(Type.Array(Text({ minLength: 1, maxLength: 127 }))),
  depends_on: Type.Optional(Type.Array(RefText, { maxItems: PARENTS_MAX, uniqueItems: true })),
  locations: Type.Optional(
    Type.Array(RefText, { minItems: 1, maxItems: MONITOR_LOCATIONS_MAX, uniqueItems: true }),
  ),
});
export type FileMonitor = Static<typeof FileMonitor>;
export const FileMonitors = Type.Optional(Type.Array(FileMonitor));

/** A list of monitors in the file, and the component it is nested in. */
export interface MonitorList {
  monitors: readonly FileMonitor[];
  /** Position of the list. */
  path: Path;
  /** Null for monitors without components. */
  componentId: string | null;
}

type MonitorWithRef = ReturnType<typeof listStoredMonitors>[number] & { ref: string };

interface MonitorEntry
  extends Entry<FileMonitor, MonitorWithRef>, Pick<MonitorList, "componentId"> {
  /** Id of its row, also of one that is not created yet. */
  id: string;
  managedBy: Manager;
}

/** Applies monitors, after the components. */
export function applyMonitors(run: ApplyRun, monitorLists: readonly MonitorList[]): void {
  const { ctx, tx, options } = run;
  const stored = listStoredMonitors(tx).map((one) => ({ ...one, ref: one.row.ref }));
  const rows = new RowsByRef<MonitorWithRef>(stored);
  const entries = monitorLists.flatMap(({ monitors, path, componentId }) =>
    monitors.map((item, index) => {
      const entry = rows.match(item, [...path, index]);
      // Exports are sorted by id, so new ids are in the order of the file.
      const id = entry.row?.row.id ?? ctx.newId("mon");
      return { ...entry, componentId, id, managedBy: "apply" as const };
    }),
  );
  // First, so that entries can take the refs of deleted ones.
  const refs = new Map(stored.map(({ row, ref }) => [row.id, ref]));
  run.handleLeftovers("monitor", stored, entries, (id) => {
    deleteMonitor(ctx, tx, id, options.actor);
    run.deletedMonitors.set(id, refs.get(id) ?? id);
  });
  // Those in the file are noted with their other changes.
  const known = new Set([...run.deletedMonitors.keys(), ...entries.map(({ id }) => id)]);
  for (const { row, parentIds } of stored.filter((one) => !known.has(one.row.id))) {
    run.noteLostMonitors("monitor", row.ref, "depends_on", parentIds);
  }
  if (entries.length === 0) return;
  const monitors = new MonitorRefs(tx, entries, stored);
  const components = readComponentRefs(tx);
  for (const entry of parentsFirst(entries)) applyMonitor(run, entry, { monitors, components });
  requireValidDependencies(run, entries, monitors);
}

/**
 * Applies a monitor that is declared alone, by labels of a container, and returns its row. `stored` is the monitor with
 * its ref. Throws as `applyMonitors` does.
 */
export function applyMonitorOfLabels(
  run: ApplyRun,
  item: FileMonitor,
  stored: MonitorRecord | undefined,
  components: ComponentRefs,
): MonitorRow {
  const { ctx, tx } = run;
  const ref = refOf(item);
  const row = stored && {
    ref,
    row: stored.row,
    componentIds: stored.components.map(({ id }) => id),
    parentIds: stored.parents.map(({ id }) => id),
  };
  const id = row?.row.id ?? ctx.newId("mon");
  const entry = { item, ref, path: [], row, componentId: null, id, managedBy: "docker" } as const;
  const monitors = new MonitorRefs(tx, [entry], row ? [row] : []);
  const applied = applyMonitor(run, entry, { monitors, components });
  if (item.depends_on) requireValidDependencies(run, [entry], monitors);
  return applied;
}

/**
 * Throws an ApplyFileError with the line of a dependency that makes a cycle, or too many dependencies
 * follow each other, also of monitors that the file does not describe. Validated together, since the
 * dependencies of some monitors may be valid only with those of others.
 */
function requireValidDependencies(
  run: ApplyRun,
  entries: readonly MonitorEntry[],
  refs: MonitorRefs,
): void {
  const { ids, detail } = findInvalidChain(run.tx) ?? { ids: [], detail: "" };
  for (const [index, parentId] of ids.slice(1).entries()) {
    const entry = entries.find(({ id }) => id === ids[index]);
    if (!entry || entry.row?.parentIds.includes(parentId)) continue;
    const at = entry.item.depends_on?.indexOf(refs.of(parentId)) ?? 0;
    const chain = ids.map((id) => refs.of(id)).join(" → ");
    run.locatingErrors(entry.path, () => {
      throw invalidFields([{ pointer: pointer("depends_on", at), detail: `${detail}: ${chain}` }]);
    });
  }
}

/** Refs of monitors: those of the file, and of others that are stored. */
class MonitorRefs {
  readonly #entries: ReadonlyMap<string, MonitorEntry>;
  /** Monitors of the file by their refs before this apply. */
  readonly #renamed: ReadonlyMap<string, MonitorEntry>;
  readonly #refs: ReadonlyMap<string, string>;
  readonly #tx: Tx;

  constructor(tx: Tx, entries: readonly MonitorEntry[], stored: readonly MonitorWithRef[]) {
    this.#tx = tx;
    this.#entries = new Map(entries.map((entry) => [entry.ref, entry]));
    this.#renamed = new Map(
      entries.flatMap((entry) => (entry.row ? [[entry.row.ref, entry] as const] : [])),
    );
    // Those of the file last, since the stored ones may be earlier refs.
    this.#refs = new Map([
      ...stored.map(({ row, ref }) => [row.id, ref] as const),
      ...entries.map(({ id, ref }) => [id, ref] as const),
    ]);
  }

  /** Returns the ref of a monitor, also of one that this apply deleted. */
  of(id: string): string {
    return this.#refs.get(id) ?? id;
  }

  /** Returns the id of the monitor that a monitor depends on by its ref, or the error of the ref. */
  findParent(ref: string): { id: string } | { error: string } {
    const entry = this.#entries.get(ref);
    const renamed = this.#renamed.get(ref);
    if (!entry && renamed) return { error: `is an earlier ref of ${renamed.ref}: ${ref}` };
    const id = entry?.id ?? findMonitorByRef(this.#tx, { ref })?.id;
    if (id === undefined) return { error: `is not the ref of a monitor: ${ref}` };
    // Parents are applied first, so one that is missing depends on this monitor.
    return findMonitor(this.#tx, { id })
      ? { id }
      : { error: `depends on the monitor itself: ${ref}` };
  }
}

/** Returns the entries in their order, except that those on which others depend come before them. */
export function parentsFirst<One extends Pick<MonitorEntry, "ref" | "item">>(
  entries: readonly One[],
): Iterable<One> {
  const byRef = new Map(entries.map((entry) => [entry.ref, entry]));
  const visited = new Set<One>();
  const ordered = new Set<One>();
  const visit = (entry: One): void => {
    if (visited.has(entry)) return;
    visited.add(entry);
    for (const ref of entry.item.depends_on ?? []) {
      const parent = byRef.get(ref);
      if (parent) visit(parent);
    }
    ordered.add(entry);
  };
  for (const entry of entries) visit(entry);
  return ordered;
}

/** Applies a monitor, after those on which it depends. */
function applyMonitor(
  run: ApplyRun,
  entry: MonitorEntry,
  refs: { monitors: MonitorRefs; components: ComponentRefs },
): MonitorRow {
  const { ctx, tx, options } = run;
  const { item, ref, id, path, managedBy, row: stored } = entry;
  const [assignment, plan] = run.locatingErrors(path, () => {
    if (stored && stored.row.managedBy !== managedBy) requireNoLabels(stored.row);
    const componentIds = componentIdsOf(entry, refs.components);
    const parentIds = parentIdsOf(item, refs.monitors);
    const errors = new FieldErrors();
    const locationIds = readLocations(tx, errors, item.locations ?? [LOCAL], item.type);
    errors.throwIfAny();
    const assigned = { ref, id, managedBy, componentIds, parentIds, locationIds };
    return [assigned, planMonitor(item, stored?.row)];
  });
  const named = (ids: readonly string[]) => ids.map((one) => refs.components.nameOf(one)).sort();
  const refsOf = (ids: readonly string[]) => ids.map((one) => refs.monitors.of(one));
  return run.apply<MonitorRow, Record<string, unknown>>({
    noun: "monitor",
    label: stored?.ref ?? ref,
    address: ref,
    path,
    row: stored?.row,
    current: () => ({
      ...plan.current,
      ref: stored?.ref,
      components: named(stored?.componentIds ?? []),
      depends_on: refsOf(stored?.parentIds ?? []),
      locations: locationRefs(tx, stored?.row),
    }),
    desired: {
      ...plan.desired,
      ref,
      components: named(assignment.componentIds),
      depends_on: refsOf(assignment.parentIds),
      locations: locationRefs(tx, { type: item.type, locations: assignment.locationIds }),
    },
    create: () => plan.create(ctx, tx, assignment, options.actor),
    update: () => plan.update(ctx, tx, assignment, options.actor),
  });
}

/** Throws `validation_failed` for a monitor that labels of a container declare, which would change it back. */
function requireNoLabels({ managedBy, ref }: MonitorRow): void {
  if (managedBy !== "docker") return;
  const detail = `belongs to a monitor that labels of a container declare: ${ref}`;
  throw invalidFields([{ pointer: pointer("ref"), detail }]);
}

/** Returns the refs of a monitor's locations; none for types that wait for reports. */
function locationRefs(
  reader: Reader,
  monitor: Pick<MonitorRow, "type" | "locations"> | undefined,
): string[] {
  if (!monitor) return [];
  return readMonitorLocations(reader, [monitor])(monitor).map(({ ref }) => ref);
}

/**
 * Returns the components that a monitor of a file watches: the one it is nested in, and those it
 * names.
 */
function componentIdsOf({ item, componentId }: MonitorEntry, refs: ComponentRefs): string[] {
  const named = (item.components ?? []).map((name, index) => {
    const id = refs.find(name);
    if (id !== undefined) return id;
    const detail = `is not a component: ${name}. Use the page's slug and the ref, such as acme/api`;
    throw invalidFields([{ pointer: pointer("components", index), detail }]);
  });
  return [...new Set(componentId === null ? named : [componentId, ...named])];
}

/** Returns the ids of the monitors that a monitor of a file depends on. */
function parentIdsOf({ depends_on: parents = [] }: FileMonitor, refs: MonitorRefs): string[] {
  return parents.map((ref, index) => {
    const parent = refs.findParent(ref);
    if ("id" in parent) return parent.id;
    throw invalidFields([{ pointer: pointer("depends_on", index), detail: parent.error }]);
  });
}

/**
 * Names of components in a file, by which monitors list additional ones: `page-slug/component-ref`,
 * or with a colon as in the API.
 */
export interface ComponentRefs {
  nameOf(id: string): string;
  /** Finds a component by its name, also with an earlier slug of the page. */
  find(name: string): string | undefined;
}

/** Reads the components of all pages. */
export function readComponentRefs(reader: Reader): ComponentRefs {
  const names = new Map<string, string>();
  const ids = new Map<string, string>();
  for (const page of listAllPages(reader, {})) {
    for (const { id, ref } of listComponentsOfPage(reader, { pageId: page.id })) {
      names.set(id, `${page.slug}/${ref}`);
      ids.set(`${page.slug}/${ref}`, id);
    }
  }
  return {
    nameOf: (id) => names.get(id) ?? id,
    find(name) {
      const [slug = "", ref = ""] = name.split(/[/:]/);
      return (
        ids.get(`${slug}/${ref}`) ?? ids.get(`${findPageBySlug(reader, { slug })?.slug}/${ref}`)
      );
    },
  };
}

/** Monitors for the file. */
export interface ExportedMonitors {
  /** Monitors by the component they are nested in: the first of theirs in the file. */
  below: ReadonlyMap<string, FileMonitor[]>;
  /** Monitors without components. */
  alone: FileMonitor[];
}

/**
 * Returns the monitors of components on these pages, in page order, and those without components.
 */
export function exportMonitors(reader: Reader, pages: readonly PageRow[]): ExportedMonitors {
  const stored = listStoredMonitors(reader);
  const monitors = stored.filter(isDeclarable).filter(({ row }) => row.managedBy !== "docker");
  const refs = monitors.length > 0 ? readComponentRefs(reader) : undefined;
  const refOf = new Map(stored.map(({ row }) => [row.id, row.ref]));
  const locationsOf = readMonitorLocations(
    reader,
    monitors.map(({ row }) => row),
  );
  const { ranks, compare } = componentOrder(reader, pages);
  const below = new Map<string, FileMonitor[]>();
  const alone: FileMonitor[] = [];
  for (const monitor of monitors) {
    const [first, ...others] = monitor.componentIds.toSorted(compare);
    const exported = exportMonitor(
      monitor,
      others.map((id) => refs?.nameOf(id) ?? id),
      monitor.parentIds.map((id) => refOf.get(id) ?? id),
      isCheckedRemotely(monitor.row) ? locationsOf(monitor.row).map(({ ref }) => ref) : [],
    );
    if (first === undefined) alone.push(exported);
    else if (ranks.has(first)) below.set(first, [...(below.get(first) ?? []), exported]);
  }
  return { below, alone };
}

function exportMonitor(
  { row }: DeclarableMonitor,
  components: string[],
  parents: string[],
  locations: string[],
): FileMonitor {
  const { name, ...declared } = declareMonitor(row);
  return {
    name,
    ref: row.ref,
    ...declared,
    ...(components.length > 0 && { components }),
    ...(parents.length > 0 && { depends_on: parents }),
    ...(locations.length > 0 && { locations }),
  };
}
