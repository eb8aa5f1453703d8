import type { AppContext } from "../../context";
import type { Reader, Tx } from "../../db";
import { conflict, notFound, validate } from "../../errors";
import { audit } from "../../events";
import type { Actor } from "../../kernel/actor";
import { toRef } from "../../kernel/text";
import { findPage, type PageRow, touchPage } from "../pages";
import { type Component, ComponentInput, GroupInput, presentComponent } from "./model";
import {
  type ComponentRow,
  endAllCauses,
  findComponent,
  findGroup,
  type GroupRow,
  insertComponent,
  insertGroup,
  listComponentsOfPage,
  listGroups,
  listOpenCauses,
  ungroupComponents,
  updateComponentRow,
  updateGroupRow,
} from "./store";

type Services = Pick<AppContext, "clock" | "newId" | "signals">;

/** Where a group or a component stands, and who manages it. */
export interface Placement {
  position: number;
  managedBy: "apply" | null;
}

/** Creates a group. Throws `validation_failed`, or `conflict` for a ref that the page has already. */
export function createGroup(
  ctx: Services,
  tx: Tx,
  page: PageRow,
  input: GroupInput,
  placement: Placement,
  actor: Actor,
): GroupRow {
  validate(GroupInput, input);
  const now = ctx.clock.now();
  const row: GroupRow = {
    id: ctx.newId("grp"),
    pageId: page.id,
    ref: input.ref ?? toRef(input.name),
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
  requireFreeRef(row.ref, listGroups(tx, { pageId: page.id }));
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

/** Changes a group; what the input leaves out stays. Throws as `createGroup`, and `not_found`. */
export function updateGroup(
  ctx: Services,
  tx: Tx,
  id: string,
  input: Partial<GroupInput> & { position?: number },
  actor: Actor,
): GroupRow {
  const before = findGroup(tx, { id });
  if (!before) throw notFound("group");
  const { position = before.position, ...fields } = input;
  validate(GroupInput, { name: before.name, ...fields });
  const after: GroupRow = {
    ...before,
    ref: fields.ref ?? before.ref,
    name: fields.name ?? before.name,
    description: fields.description === undefined ? before.description : fields.description,
    collapse: fields.collapse ?? before.collapse,
    position,
    version: before.version + 1,
    updatedAt: ctx.clock.now(),
  };
  if (after.ref !== before.ref) requireFreeRef(after.ref, listGroups(tx, { pageId: after.pageId }));
  updateGroupRow(tx, after);
  audit(ctx, tx, actor, "group.update", id, `Changed the group “${after.name}”`);
  touchPage(ctx, tx, after.pageId);
  return after;
}

/** Deletes a group; its components stay, ungrouped. Throws `not_found`. */
export function deleteGroup(ctx: Services, tx: Tx, id: string, actor: Actor): void {
  const row = findGroup(tx, { id });
  if (!row) throw notFound("group");
  const now = ctx.clock.now();
  ungroupComponents(tx, { groupId: id, now });
  updateGroupRow(tx, { ...row, version: row.version + 1, updatedAt: now, deletedAt: now });
  audit(ctx, tx, actor, "group.delete", id, `Deleted the group “${row.name}”`);
  touchPage(ctx, tx, row.pageId);
}

/** Creates a component, operational. Throws `validation_failed`, or `conflict` for a ref in use. */
export function createComponent(
  ctx: Services,
  tx: Tx,
  page: PageRow,
  input: ComponentInput,
  placement: Placement & { groupId: string | null },
  actor: Actor,
): ComponentRow {
  validate(ComponentInput, input);
  const now = ctx.clock.now();
  const row: ComponentRow = {
    id: ctx.newId("cmp"),
    pageId: page.id,
    groupId: placement.groupId,
    ref: input.ref ?? toRef(input.name),
    name: input.name,
    description: input.description ?? null,
    position: placement.position,
    status: "operational",
    baselineStatus: "operational",
    showcase: input.showcase ?? true,
    startDate: input.start_date ?? null,
    onlyShowIfDegraded: input.only_show_if_degraded ?? false,
    managedBy: placement.managedBy,
    version: 1,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  };
  requireFreeRef(row.ref, listComponentsOfPage(tx, { pageId: page.id }));
  insertComponent(tx, row);
  const summary = `Created the component “${row.name}” on “${page.name}”`;
  audit(ctx, tx, actor, "component.create", row.id, summary);
  touchPage(ctx, tx, page.id);
  return row;
}

/** Changes a component but not its status. Throws as `createComponent`, and `not_found`. */
export function updateComponent(
  ctx: Services,
  tx: Tx,
  id: string,
  input: Partial<ComponentInput> & { position?: number; groupId?: string | null },
  actor: Actor,
): ComponentRow {
  const before = getComponentRow(tx, id);
  const { position = before.position, groupId = before.groupId, ...fields } = input;
  validate(ComponentInput, { name: before.name, ...fields });
  const after: ComponentRow = {
    ...before,
    ref: fields.ref ?? before.ref,
    name: fields.name ?? before.name,
    description: fields.description === undefined ? before.description : fields.description,
    showcase: fields.showcase ?? before.showcase,
    startDate: fields.start_date === undefined ? before.startDate : fields.start_date,
    onlyShowIfDegraded: fields.only_show_if_degraded ?? before.onlyShowIfDegraded,
    position,
    groupId,
    version: before.version + 1,
    updatedAt: ctx.clock.now(),
  };
  if (after.ref !== before.ref) {
    requireFreeRef(after.ref, listComponentsOfPage(tx, { pageId: after.pageId }));
  }
  updateComponentRow(tx, after);
  audit(ctx, tx, actor, "component.update", id, `Changed the component “${after.name}”`);
  touchPage(ctx, tx, after.pageId);
  return after;
}

/** Deletes a component and ends what marks it; its history stays. Throws `not_found`. */
export function deleteComponent(ctx: Services, tx: Tx, id: string, actor: Actor): void {
  const row = getComponentRow(tx, id);
  const now = ctx.clock.now();
  endAllCauses(tx, { componentId: id, endedAt: now });
  updateComponentRow(tx, { ...row, version: row.version + 1, updatedAt: now, deletedAt: now });
  audit(ctx, tx, actor, "component.delete", id, `Deleted the component “${row.name}”`);
  touchPage(ctx, tx, row.pageId);
}

/** One component's row. Throws `not_found`, also where its page is gone. */
export function getComponentRow(reader: Reader, id: string): ComponentRow {
  const row = findComponent(reader, { id });
  if (!row) throw notFound("component");
  return row;
}

/** One component as the API shows it. Throws `not_found`. */
export function getComponent(reader: Reader, id: string): Component {
  const row = getComponentRow(reader, id);
  const page = findPage(reader, { id: row.pageId });
  return presentComponent(row, page?.slug ?? "", listOpenCauses(reader, { componentId: id }));
}

function requireFreeRef(ref: string, siblings: readonly { ref: string; name: string }[]): void {
  const holder = siblings.find((sibling) => sibling.ref === ref);
  if (holder) throw conflict(`The ref ${ref} is taken by “${holder.name}” on this page.`);
}
