import { invalidFields, pointer } from "../../base/errors";
import { FieldErrors } from "../../base/validation";
import { ANY_MONITOR } from "../../base/webhook";
import type { Tx } from "../../db/statements";
import { listStoredMonitors, planMonitor } from "../monitors/declared";
import { findInvalidChain } from "../monitors/dependencies";
import { findMonitor, findMonitorByRef } from "../monitors/store";
import { deleteMonitor } from "../monitors/update";
import { findPageBySlug, type PageRow } from "../pages/store";
import { findQuestion } from "../webhooks/alerts/confirmation";
import { planWebhook, type StoredWebhook } from "../webhooks/declared";
import { findWebhook } from "../webhooks/store";
import { deleteWebhook, readMonitors } from "../webhooks/webhooks";
import { type ApplyRun, type Entry, type Path, RowsByRef } from "./run";
import { type ComponentRefs, readComponentRefs } from "./read";
import type { FileMonitor, FileWebhook } from "./schema";

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
      return { ...entry, componentId, id: entry.row?.row.id ?? ctx.newId("mon") };
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

/** Applies a monitor, after those on which it depends. */
function applyMonitor(
  run: ApplyRun,
  entry: MonitorEntry,
  refs: { monitors: MonitorRefs; components: ComponentRefs },
): void {
  const { ctx, tx, options } = run;
  const { item, ref, id, path, row: stored } = entry;
  const [assignment, plan] = run.locatingErrors(path, () => {
    const componentIds = componentIdsOf(entry, refs.components);
    const parentIds = parentIdsOf(item, refs.monitors);
    return [{ ref, id, componentIds, parentIds }, planMonitor(item, stored?.row)];
  });
  const named = (ids: readonly string[]) => ids.map((one) => refs.components.nameOf(one)).sort();
  const refsOf = (ids: readonly string[]) => ids.map((one) => refs.monitors.of(one));
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

/** Returns the ids of the monitors that a monitor of a file depends on. */
function parentIdsOf({ depends_on: parents = [] }: FileMonitor, refs: MonitorRefs): string[] {
  return parents.map((ref, index) => {
    const parent = refs.findParent(ref);
    if ("id" in parent) return parent.id;
    throw invalidFields([{ pointer: pointer("depends_on", index), detail: parent.error }]);
  });
}

type WebhookWithRef = StoredWebhook & { ref: string };
type WebhookEntry = Entry<FileWebhook, WebhookWithRef>;

/** Applies webhooks, after the pages and monitors. `before` are those before monitors were deleted. */
export function applyWebhooks(
  run: ApplyRun,
  webhooks: readonly FileWebhook[],
  before: readonly StoredWebhook[],
): void {
  const stored = before.map((one) => ({ ...one, ref: one.row.ref }));
  const rows = new RowsByRef<WebhookWithRef>(stored);
  const entries = webhooks.map((item, index) => rows.match(item, ["webhooks", index]));
  // First, so that entries can take the refs of deleted ones.
  run.handleLeftovers("webhook", stored, entries, (id) =>
    deleteWebhook(run.ctx, run.tx, id, run.options.actor),
  );
  const known = new Set(entries.map(({ row }) => row?.row.id));
  for (const { row, ref } of stored) {
    if (known.has(row.id) || !findWebhook(run.tx, row)) continue;
    run.noteLostMonitors("webhook", ref, "monitors", row.monitors);
  }
  for (const entry of entries) applyWebhook(run, entry);
}

function applyWebhook(run: ApplyRun, { item, ref, path, row: stored }: WebhookEntry): void {
  const { ctx, tx, options } = run;
  const plan = run.locatingErrors(path, () => {
    const page = pageOf(tx, item, stored);
    const errors = new FieldErrors();
    const monitorIds = readMonitors(tx, errors, item.monitors ?? [ANY_MONITOR]);
    errors.throwIfAny();
    const refsOf = (ids: readonly string[]) => run.refsOfMonitors(ids);
    return planWebhook(item, { ref, page, monitorIds, refsOf }, stored);
  });
  const row = run.apply({
    noun: "webhook",
    label: stored?.ref ?? ref,
    address: ref,
    path,
    row: stored?.row,
    current: () => plan.current,
    desired: plan.desired,
    create: () => plan.create(ctx, tx, options.actor),
    update: () => plan.update(ctx, tx, options.actor),
  });
  const question = row.enabled ? findQuestion(tx, row) : undefined;
  if (question) run.outcome.unconfirmed.push({ webhook: row.ref, question });
}

/** Returns the page of a webhook, also by an earlier slug; null for all pages. */
function pageOf(tx: Tx, { page: slug }: FileWebhook, stored?: WebhookWithRef): PageRow | null {
  if (slug === undefined || slug === null) return null;
  if (stored?.page?.slug === slug) return stored.page;
  const page = findPageBySlug(tx, { slug });
  if (page) return page;
  throw invalidFields([{ pointer: pointer("page"), detail: `is not the slug of a page: ${slug}` }]);
}
