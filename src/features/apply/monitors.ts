import { invalidFields, pointer } from "../../errors";
import { deleteMonitor, listStoredMonitors, planMonitor } from "../monitors";
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
  for (const entry of entries) applyMonitor(run, entry, refs);
}

function applyMonitor(run: ApplyRun, entry: MonitorEntry, refs: ComponentRefs): void {
  const { ctx, tx, options } = run;
  const { item, ref, path, row: stored } = entry;
  const [assignment, plan] = run.locatingErrors(path, () => [
    { ref, componentIds: componentIdsOf(entry, refs) },
    planMonitor(item, stored?.row),
  ]);
  const named = (ids: readonly string[]) => ids.map((id) => refs.nameOf(id)).sort();
  run.apply<MonitorWithRef["row"], Record<string, unknown>>({
    noun: "monitor",
    label: stored?.ref ?? ref,
    address: ref,
    path,
    row: stored?.row,
    current: () => ({
      ...plan.current,
      ref: stored?.ref,
      components: named(stored?.componentIds ?? []),
    }),
    desired: { ...plan.desired, ref, components: named(assignment.componentIds) },
    create: () => plan.create(ctx, tx, assignment, options.actor),
    update: () => plan.update(ctx, tx, assignment, options.actor),
  });
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
