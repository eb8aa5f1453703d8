import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { audit } from "../../events/audit";
import type { Actor } from "../../base/actor";
import { getPage, touchPage } from "./service";
import { deletePageSlugs, listAllPages, type PageRow, updatePageRow } from "./store";

/**
 * Removes a page: it is not found from now on, its slugs are free, and another page becomes the
 * default. Its components, incidents, maintenance, monitors and webhooks are not changed:
 * `page-deletion` ends them first. Throws `not_found`.
 */
export function removePage(ctx: Ctx, tx: Tx, id: string, actor: Actor): void {
  // First, since it raises the content version of the row that is read below.
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
  ctx.signals.addressesChanged.raise(tx);
  audit(ctx, tx, actor, "page.delete", row.id, `Deleted the page “${row.name}”`);
  if (row.isDefault) promoteNextDefault(ctx, tx, id);
}

/**
 * Returns the page that becomes the default when a page is removed: the oldest public one, or the
 * oldest private one without any public. Undefined if there is no other page.
 */
export function findNextDefaultPage(reader: Reader, removedId: string): PageRow | undefined {
  const others = listAllPages(reader, {}).filter(({ id }) => id !== removedId);
  return others.findLast(({ visibility }) => visibility === "public") ?? others.at(-1);
}

/** Makes another page the default, which is served at `/`. */
function promoteNextDefault(ctx: Ctx, tx: Tx, removedId: string): void {
  const next = findNextDefaultPage(tx, removedId);
  if (!next) return;
  const now = ctx.clock.now();
  updatePageRow(tx, { ...next, isDefault: true, version: next.version + 1, updatedAt: now });
  touchPage(ctx, tx, next.id);
}
