import type { AppContext } from "../../context";
import type { Tx } from "../../db";
import { audit } from "../../events";
import type { Actor } from "../../kernel/actor";
import { getPage, moveAddresses, touchPage } from "./service";
import { deletePageSlugs, listAllPages, updatePageRow } from "./store";

type Services = Pick<AppContext, "clock" | "signals">;

/**
 * Removes a page itself: 404 from now on, its slugs free, another page the default. Its components,
 * incidents, maintenance, monitors and webhooks are left as they are: `page-deletion` ends those first.
 * Throws `not_found`.
 */
export function removePage(ctx: Services, tx: Tx, id: string, actor: Actor): void {
  touchPage(ctx, tx, id);
  const row = getPage(tx, id);
  const now = ctx.clock.now();
  updatePageRow(tx, {
    ...row,
    isDefault: false,
    version: row.version + 1,
    updatedAt: now,
    deletedAt: now,
  });
  deletePageSlugs(tx, { pageId: id });
  moveAddresses(ctx, tx);
  audit(ctx, tx, actor, "page.delete", row.id, `Deleted the page “${row.name}”`);
  if (row.isDefault) promoteOldest(ctx, tx);
}

/** Makes the oldest of the remaining pages the default, so that `/` has something to show. */
function promoteOldest(ctx: Services, tx: Tx): void {
  const oldest = listAllPages(tx, {}).at(-1);
  if (!oldest) return;
  const now = ctx.clock.now();
  updatePageRow(tx, { ...oldest, isDefault: true, version: oldest.version + 1, updatedAt: now });
  touchPage(ctx, tx, oldest.id);
}
