import { invalidFields, pointer } from "../../errors";
import {
  deleteMonitor,
  findDependencyErrors,
  findMonitor,
  findMonitorByRef,
  listStoredMonitors,
  planMonitor,
} from "../monitors";
import { type ComponentRefs, readComponentRefs } from "./component-refs";
import { type Entry, RowsByRef } from "./entries";
import type { Path } from "./locate";
import type { FileMonitor } from "./model";
import type { ApplyRun } from "./run";

/** A list of monitors in the file, and the component it is nested in. */
export interface MonitorList {
  monitors: readonly FileMonitor[];
  /** Position of the list. */
  path: Path;
  /** Null for monitors without components. */
  componentId: string | null;
}

type MonitorWithRef = ReturnType<typeof listStoredMonitors>[number] & { ref: string };

type MonitorEntry = Entry<FileMonitor, MonitorWithRef> & Pick<MonitorList, "componentId">;

/** Applies monitors, after the components. */
export function applyMonitors(run: ApplyRun, monitorLists: readonly MonitorList[]): void {
  const stored = listStoredMonitors(run.tx).map((one) => ({ ...one, ref: one.row.ref }));
  const rows = new RowsByRef<MonitorWithRef>(stored);
  const entries = monitorLists.flatMap(({ monitors, path, componentId }) =>
    monitors.map((item, index) => ({ ...rows.match(item, [...path, index]), componentId })),
  );
  // First, so that entries can take the refs of deleted ones.
  run.handleLeftovers("monitor", stored, entries, (id) =>
    deleteMonitor(run.ctx, run.tx, id, run.options.actor),
  );
  if (entries.length === 0) return;
  const refs = readComponentRefs(run.tx);
  const applied = new Map<string, MonitorEntry>();
  for (const entry of parentsFirst(entries)) applied.set(applyMonitor(run, entry, refs), entry);
  // Together, since the dependencies of some may be valid only with those of others.
  for (const [id, detail] of findDependencyErrors(run.tx)) {
    const entry = applied.get(id);
    const fail = () => {
      throw invalidFields([{ pointer: pointer("depends_on"), detail }]);
    };
    if (entry) run.locatingErrors(entry.path, fail);
  }
}

/** Returns the entries in their order, except that those on which others depend come before them. */
function parentsFirst(entries: readonly MonitorEntry[]): Iterable<MonitorEntry> {
  const byRef = new Map(entries.map((entry) => [entry.ref, entry]));
  const visited = new Set<MonitorEntry>();
  const ordered = new Set<MonitorEntry>();
  const visit = (entry: MonitorEntry): void => {
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

/** Applies a monitor and returns its id. */
function applyMonitor(run: ApplyRun, entry: MonitorEntry, refs: ComponentRefs): string {
  const { ctx, tx, options } = run;
  const { item, ref, path, row: stored } = entry;
  const [assignment, plan] = run.locatingErrors(path, () => [
    { ref, componentIds: componentIdsOf(entry, refs), parentIds: parentIdsOf(run, item) },
    planMonitor(item, stored?.row),
  ]);
  const named = (ids: readonly string[]) => ids.map((id) => refs.nameOf(id)).sort();
  const refsOf = (ids: readonly string[]) => ids.map((id) => findMonitor(tx, { id })?.ref ?? id);
  return run.apply<MonitorWithRef["row"], Record<string, unknown>>({
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
    }),
    desired: {
      ...plan.desired,
      ref,
      components: named(assignment.componentIds),
      depends_on: refsOf(assignment.parentIds),
    },
    create: () => plan.create(ctx, tx, assignment, options.actor),
    update: () => plan.update(ctx, tx, assignment, options.actor),
  }).id;
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
function parentIdsOf({ tx }: ApplyRun, { depends_on: parents = [] }: FileMonitor): string[] {
  return parents.map((ref, index) => {
    const parent = findMonitorByRef(tx, { ref });
    if (parent) return parent.id;
    const detail = `is not the ref of a monitor, or of one that depends on this one: ${ref}`;
    throw invalidFields([{ pointer: pointer("depends_on", index), detail }]);
  });
}
