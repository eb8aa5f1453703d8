import type { AppContext } from "../../context";
import type { Reader, Tx } from "../../db";
import { audit } from "../../events";
import type { Actor } from "../../domain/actor";
import { getPage, moveAddresses, touchPage } from "./service";
import { deletePageSlugs, listAllPages, type PageRow, updatePageRow } from "./store";

type Services = Pick<AppContext, "clock" | "signals">;

/**
 * Removes a page itself: 404 from now on, its slugs free, another page the default. Its components,
 * incidents, maintenance, monitors and webhooks are left as they are: `page-deletion` ends those first.
 * Throws `not_found`.
 */
export function removePage(ctx: Services, tx: Tx, id: string, actor: Actor): void {
  // It raises the content version that the row below is read with.
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
  if (row.isDefault) promoteNextDefault(ctx, tx, id);
}

/**
 * Returns the page that becomes the default when a page is removed: the oldest public one, or the oldest
 * private one where none is public. Undefined if there is no other page.
 */
export function findNextDefaultPage(reader: Reader, removedId: string): PageRow | undefined {
  const others = listAllPages(reader, {}).filter(({ id }) => id !== removedId);
  return others.findLast(({ visibility }) => visibility === "public") ?? others.at(-1);
}

/** Makes another page the default, so that `/` has something to show. */
function promoteNextDefault(ctx: Services, tx: Tx, removedId: string): void {
  const next = findNextDefaultPage(tx, removedId);
  if (!next) return;
  const now = ctx.clock.now();
  updatePageRow(tx, { ...next, isDefault: true, version: next.version + 1, updatedAt: now });
  touchPage(ctx, tx, next.id);
}
