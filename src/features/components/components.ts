import type { Actor } from "../../base/actor";
import { conflict, invalidFields, notFound } from "../../base/errors";
import { freeRef, type Manager } from "../../base/ids";
import { toRef } from "../../base/text";
import { FieldErrors, type Valid } from "../../base/validation";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { audit } from "../../events/audit";
import { getPage, touchPage } from "../pages/pages";
import type { PageRow } from "../pages/store";
import { endAllCauses, endCausesOfPage } from "./cause-store";
import {
  type ComponentOnPage,
  type ComponentRow,
  deleteComponentRowsOfPage,
  deleteGroupRowsOfPage,
  findComponent,
  findComponentByRef,
  findGroup,
  findGroupByRef,
  type GroupRow,
  insertComponent,
  insertGroup,
  listComponentsOfPage,
  listGroups,
  ungroupComponents,
  updateComponentRow,
  updateGroupRow,
} from "./store";
import type { PartialComponentInput, ComponentInput, PartialGroupInput, GroupInput } from "./wire";

/** Position of a group or component, and its manager. */
interface Placement {
  position: number;
  managedBy: Manager | null;
}

/**
 * Creates a group. A ref made from the name is numbered if the page has it already. Throws `conflict` for a given ref
 * that is taken.
 */
export function createGroup(
  ctx: Ctx,
  tx: Tx,
  page: PageRow,
  input: Valid<GroupInput>,
  placement: Placement,
  actor: Actor,
): GroupRow {
  const now = ctx.clock.now();
  const holderOf = (ref: string) => findGroupByRef(tx, { pageId: page.id, ref });
  const row: GroupRow = {
    id: ctx.newId("grp"),
    pageId: page.id,
    ref: input.ref ?? freeRef(toRef(input.name) || "group", holderOf),
    name: input.name,
    description: input.description ?? null,
    position: placement.position,
    collapse: input.collapse ?? "expanded",
    managedBy: placement.managedBy,
    version: 1,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  };
  requireFreeRef(row.ref, holderOf(row.ref));
  insertGroup(tx, row);
  audit(
    ctx,
    tx,
    actor,
    "group.create",
    row.id,
    `Created the group “${row.name}” on “${page.name}”`,
  );
  touchPage(ctx, tx, page.id);
  return row;
}

/**
 * Changes a group; fields that the input leaves out stay. Throws as `createGroup`, and `not_found`.
 */
export function updateGroup(
  ctx: Ctx,
  tx: Tx,
  id: string,
  input: Valid<PartialGroupInput>,
  actor: Actor,
  place: { position?: number } = {},
): GroupRow {
  const before = getGroupRow(tx, id);
  const { position = before.position } = place;
  const after: GroupRow = {
    ...before,
    ref: input.ref ?? before.ref,
    name: input.name ?? before.name,
    description: input.description === undefined ? before.description : input.description,
    collapse: input.collapse ?? before.collapse,
    position,
    version: before.version + 1,
    updatedAt: ctx.clock.now(),
  };
  if (after.ref !== before.ref) requireFreeRef(after.ref, findGroupByRef(tx, after));
  updateGroupRow(tx, after);
  audit(ctx, tx, actor, "group.update", id, `Changed the group “${after.name}”`);
  touchPage(ctx, tx, after.pageId);
  return after;
}

/** Deletes a group; its components stay, ungrouped. Throws `not_found`. */
export function deleteGroup(ctx: Ctx, tx: Tx, id: string, actor: Actor): void {
  const row = getGroupRow(tx, id);
  const now = ctx.clock.now();
  ungroupComponents(tx, { groupId: id, now });
  updateGroupRow(tx, { ...row, version: row.version + 1, updatedAt: now, deletedAt: now });
  audit(ctx, tx, actor, "group.delete", id, `Deleted the group “${row.name}”`);
  touchPage(ctx, tx, row.pageId);
}

/** Creates an operational component. Throws as `createGroup`, and `validation_failed` for a group of another page. */
export function createComponent(
  ctx: Ctx,
  tx: Tx,
  page: PageRow,
  input: Valid<ComponentInput>,
  placement: Placement & { groupId: string | null },
  actor: Actor,
): ComponentRow {
  requireGroupOf(tx, page.id, placement.groupId);
  const now = ctx.clock.now();
  const holderOf = (ref: string) => findComponentByRef(tx, { pageId: page.id, ref });
  const row: ComponentRow = {
    id: ctx.newId("cmp"),
    pageId: page.id,
    groupId: placement.groupId,
    ref: input.ref ?? freeRef(toRef(input.name) || "component", holderOf),
    name: input.name,
    description: input.description ?? null,
    position: placement.position,
    status: "operational",
    baselineStatus: "operational",
    showcase: input.showcase ?? true,
    startDate: input.start_date ?? null,
    onlyShowIfDegraded: input.only_show_if_degraded ?? false,
    showLatency: input.show_latency ?? false,
    tags: input.tags ?? [],
    uptimeGoal: input.uptime_goal ?? null,
    managedBy: placement.managedBy,
    version: 1,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  };
  requireFreeRef(row.ref, holderOf(row.ref));
  insertComponent(tx, row);
  const summary = `Created the component “${row.name}” on “${page.name}”`;
  audit(ctx, tx, actor, "component.create", row.id, summary);
  touchPage(ctx, tx, page.id);
  return row;
}

/** Changes a component but not its status. Throws as `createComponent`, and `not_found`. */
export function updateComponent(
  ctx: Ctx,
  tx: Tx,
  id: string,
  input: Valid<PartialComponentInput>,
  actor: Actor,
  place: { position?: number; groupId?: string | null } = {},
): ComponentRow {
  const before = getComponentRow(tx, id);
  const { position = before.position, groupId = before.groupId } = place;
  if (groupId !== before.groupId) requireGroupOf(tx, before.pageId, groupId);
  const after: ComponentRow = {
    ...before,
    ref: input.ref ?? before.ref,
    name: input.name ?? before.name,
    description: input.description === undefined ? before.description : input.description,
    showcase: input.showcase ?? before.showcase,
    startDate: input.start_date === undefined ? before.startDate : input.start_date,
    onlyShowIfDegraded: input.only_show_if_degraded ?? before.onlyShowIfDegraded,
    showLatency: input.show_latency ?? before.showLatency,
    tags: input.tags ?? before.tags,
    uptimeGoal: input.uptime_goal === undefined ? before.uptimeGoal : input.uptime_goal,
    position,
    groupId,
    version: before.version + 1,
    updatedAt: ctx.clock.now(),
  };
  if (after.ref !== before.ref) {
    requireFreeRef(after.ref, findComponentByRef(tx, after));
  }
  updateComponentRow(tx, after);
  audit(ctx, tx, actor, "component.update", id, `Changed the component “${after.name}”`);
  touchPage(ctx, tx, after.pageId);
  return after;
}

/** Deletes a component and ends its causes; its history stays. Throws `not_found`. */
export function deleteComponent(ctx: Ctx, tx: Tx, id: string, actor: Actor): void {
  const row = getComponentRow(tx, id);
  const now = ctx.clock.now();
  endAllCauses(tx, { componentId: id, endedAt: now });
  updateComponentRow(tx, { ...row, version: row.version + 1, updatedAt: now, deletedAt: now });
  audit(ctx, tx, actor, "component.delete", id, `Deleted the component “${row.name}”`);
  touchPage(ctx, tx, row.pageId);
}

/** Returns a group's row. Throws `not_found`. */
export function getGroupRow(reader: Reader, id: string): GroupRow {
  const row = findGroup(reader, { id });
  if (!row) throw notFound("group");
  return row;
}

/** Returns a component's row. Throws `not_found`, also if its page is deleted. */
export function getComponentRow(reader: Reader, id: string): ComponentOnPage {
  const row = findComponent(reader, { id });
  if (!row) throw notFound("component");
  return row;
}

function requireGroupOf(tx: Tx, pageId: string, groupId: string | null): void {
  if (groupId === null || findGroup(tx, { id: groupId })?.pageId === pageId) return;
  throw invalidFields([{ pointer: "#/group_id", detail: "must be a group of this page" }]);
}

function requireFreeRef(ref: string, holder: { name: string } | undefined): void {
  if (holder) throw conflict(`The ref ${ref} is taken by “${holder.name}” on this page.`);
}

/**
 * Deletes all components and groups of a page that is being deleted, and ends their causes. Their
 * history stays. No status change is recorded.
 */
export function deleteComponentsOfPage(ctx: Ctx, tx: Tx, pageId: string): void {
  const now = ctx.clock.now();
  endCausesOfPage(tx, { pageId, endedAt: now });
  deleteComponentRowsOfPage(tx, { pageId, now });
  deleteGroupRowsOfPage(tx, { pageId, now });
  touchPage(ctx, tx, pageId);
}

/** All groups and components of a page in the desired order. */
export interface ComponentOrder {
  /** Ids. */
  groups: readonly string[];
  /** Components in the order of their group; those without a group come before all groups. */
  components: readonly { id: string; groupId: string | null }[];
}

/** Returns the position after all siblings. */
export function nextPosition(siblings: readonly { position: number }[]): number {
  return siblings.reduce((last, { position }) => Math.max(last, position), -1) + 1;
}

/**
 * Orders a page's groups and components, and moves components between groups. Writes only changed
 * rows and one audit row. Returns true if anything changed.
 *
 * Throws `not_found` for the page, and `validation_failed` unless the order names each group and
 * component of the page exactly once and nothing else.
 */
export function orderComponents(
  ctx: Ctx,
  tx: Tx,
  pageId: string,
  order: ComponentOrder,
  actor: Actor,
): boolean {
  const page = getPage(tx, pageId);
  const groups = listGroups(tx, { pageId });
  const components = listComponentsOfPage(tx, { pageId });
  requireCompleteOrder(order, groups, components);
  const changed = {
    groups: movedGroups(groups, order),
    components: movedComponents(components, order),
  };
  if (changed.groups.length + changed.components.length === 0) return false;
  const updatedAt = ctx.clock.now();
  for (const row of changed.groups) {
    updateGroupRow(tx, { ...row, version: row.version + 1, updatedAt });
  }
  for (const row of changed.components) {
    updateComponentRow(tx, { ...row, version: row.version + 1, updatedAt });
  }
  const summary = `Changed the order of the components of “${page.name}”`;
  audit(ctx, tx, actor, "component.order", page.id, summary);
  touchPage(ctx, tx, page.id);
  return true;
}

function requireCompleteOrder(
  order: ComponentOrder,
  groups: readonly GroupRow[],
  components: readonly ComponentRow[],
): void {
  const errors = new FieldErrors();
  validateIds(errors, "groups", "group", order.groups, groups);
  const componentIds = order.components.map(({ id }) => id);
  validateIds(errors, "components", "component", componentIds, components);
  const groupIds = new Set(groups.map(({ id }) => id));
  for (const [index, { groupId }] of order.components.entries()) {
    if (groupId !== null && !groupIds.has(groupId)) {
      errors.add(["components", index, "groupId"], "must be a group of this page");
    }
  }
  errors.throwIfAny();
}

function validateIds(
  errors: FieldErrors,
  field: string,
  noun: string,
  ids: readonly string[],
  rows: readonly { id: string; name: string }[],
): void {
  const existing = new Set(rows.map(({ id }) => id));
  const named = new Set<string>();
  for (const [index, id] of ids.entries()) {
    if (!existing.has(id)) errors.add([field, index], `is not a ${noun} of this page`);
    else if (named.has(id)) errors.add([field, index], "is named twice");
    named.add(id);
  }
  for (const { id, name } of rows) {
    if (!named.has(id)) errors.add([field], `does not name “${name}”`);
  }
}

/** Returns the groups with a new position, changed. */
function movedGroups(rows: readonly GroupRow[], { groups }: ComponentOrder): GroupRow[] {
  const positions = new Map(groups.map((id, position) => [id, position]));
  return rows.flatMap((row) => {
    const position = positions.get(row.id);
    return position === undefined || position === row.position ? [] : [{ ...row, position }];
  });
}

/**
 * Returns the components with a new position or group, changed. They are numbered over the whole
 * page.
 */
function movedComponents(rows: readonly ComponentRow[], order: ComponentOrder): ComponentRow[] {
  const byGroup = Map.groupBy(order.components, ({ groupId }) => groupId);
  const desired = [null, ...order.groups].flatMap((groupId) => byGroup.get(groupId) ?? []);
  const placements = new Map(
    desired.map(({ id, groupId }, position) => [id, { groupId, position }]),
  );
  return rows.flatMap((row) => {
    const placement = placements.get(row.id);
    if (!placement) return [];
    const isSame = placement.groupId === row.groupId && placement.position === row.position;
    return isSame ? [] : [{ ...row, ...placement }];
  });
}
