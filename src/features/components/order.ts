import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { FieldErrors } from "../../base/validation";
import { audit } from "../../events/audit";
import type { Actor } from "../../base/actor";
import { getPage, touchPage } from "../pages/service";
import {
  type ComponentRow,
  type GroupRow,
  listComponentsOfPage,
  listGroups,
  updateComponentRow,
  updateGroupRow,
} from "./store";

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
  const wrong = new FieldErrors();
  validateIds(wrong, "groups", "group", order.groups, groups);
  const componentIds = order.components.map(({ id }) => id);
  validateIds(wrong, "components", "component", componentIds, components);
  const groupIds = new Set(groups.map(({ id }) => id));
  for (const [index, { groupId }] of order.components.entries()) {
    if (groupId !== null && !groupIds.has(groupId)) {
      wrong.add(["components", index, "groupId"], "must be a group of this page");
    }
  }
  wrong.throwIfAny();
}

function validateIds(
  wrong: FieldErrors,
  field: string,
  noun: string,
  ids: readonly string[],
  rows: readonly { id: string; name: string }[],
): void {
  const existing = new Set(rows.map(({ id }) => id));
  const named = new Set<string>();
  for (const [index, id] of ids.entries()) {
    if (!existing.has(id)) wrong.add([field, index], `is not a ${noun} of this page`);
    else if (named.has(id)) wrong.add([field, index], "is named twice");
    named.add(id);
  }
  for (const { id, name } of rows) {
    if (!named.has(id)) wrong.add([field], `does not name “${name}”`);
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
