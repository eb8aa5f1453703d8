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

type KnownMonitor = ReturnType<typeof listStoredMonitors>[number] & { ref: string };

type MonitorEntry = Entry<FileMonitor, KnownMonitor> & Pick<MonitorList, "componentId">;

/** Applies monitors, after the components. */
export function applyMonitors(run: ApplyRun, homes: readonly MonitorList[]): void {
  const known = listStoredMonitors(run.tx).map((one) => ({ ...one, ref: one.row.ref }));
  const rows = new RowsByRef<KnownMonitor>(known);
  const entries = homes.flatMap(({ monitors, path, componentId }) =>
    monitors.map((item, index) => ({ ...rows.match(item, [...path, index]), componentId })),
  );
  // First, so that the refs of deleted ones are free.
  run.leaveRest("monitor", known, entries, (id) =>
    deleteMonitor(run.ctx, run.tx, id, run.options.actor),
  );
  if (entries.length === 0) return;
  const refs = readComponentRefs(run.tx);
  for (const entry of entries) applyMonitor(run, entry, refs);
}

function applyMonitor(run: ApplyRun, entry: MonitorEntry, refs: ComponentRefs): void {
  const { ctx, tx, options } = run;
  const { item, ref, path, row: known } = entry;
  const [place, plan] = run.at(path, () => [
    { ref, componentIds: componentIdsOf(entry, refs) },
    planMonitor(item, known?.row),
  ]);
  const named = (ids: readonly string[]) => ids.map((id) => refs.nameOf(id)).sort();
  run.apply<KnownMonitor["row"], Record<string, unknown>>({
    noun: "monitor",
    label: known?.ref ?? ref,
    address: ref,
    path,
    row: known?.row,
    present: () => ({
      ...plan.present,
      ref: known?.ref,
      components: named(known?.componentIds ?? []),
    }),
    desired: { ...plan.desired, ref, components: named(place.componentIds) },
    create: () => plan.create(ctx, tx, place, options.actor),
    update: () => plan.update(ctx, tx, place, options.actor),
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
