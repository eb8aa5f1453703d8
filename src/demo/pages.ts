import type { Ctx } from "../context";
import type { Tx } from "../db/statements";
import type { Actor } from "../base/actor";
import { createComponent, createGroup } from "../features/components/components";
import { createPage } from "../features/pages/pages";
import type { PageRow } from "../features/pages/store";

/** A page of demo data. */
export interface DemoPage {
  row: PageRow;
  /** Returns the id of a component by its name. Throws for an unknown name. */
  component(name: string): string;
}

/** A page to be created. */
export interface PagePlan {
  page: Parameters<typeof createPage>[2];
  /** Component names by the name of their group; "" is no group. */
  components: Readonly<Record<string, readonly string[]>>;
}

/** Creates a page with its groups and components. */
export function addPage(ctx: Ctx, tx: Tx, plan: PagePlan, actor: Actor): DemoPage {
  const row = createPage(ctx, tx, plan.page, actor);
  const ids = new Map<string, string>();
  for (const [part, [title, names]] of Object.entries(plan.components).entries()) {
    const place = { managedBy: null };
    const groupId =
      title === ""
        ? null
        : createGroup(ctx, tx, row, { name: title }, { ...place, position: part }, actor).id;
    for (const [position, name] of names.entries()) {
      const at = { ...place, position, groupId };
      ids.set(name, createComponent(ctx, tx, row, { name }, at, actor).id);
    }
  }
  return {
    row,
    component(name) {
      const id = ids.get(name);
      if (id === undefined) throw new Error(`${row.name} has no component ${name}`);
      return id;
    },
  };
}
