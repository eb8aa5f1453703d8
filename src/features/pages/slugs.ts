import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { conflict, notFound } from "../../base/errors";
import { audit } from "../../events/audit";
import type { Actor } from "../../base/actor";
import { getPage, touchPage } from "./service";
import { deletePageSlug, listSlugsOfPage } from "./store";

/** An earlier slug of a page, which still leads to it. */
export interface OldSlug {
  slug: string;
  /** Time at which the page got it, in unix ms. */
  createdAt: number;
}

/** Lists the earlier slugs of a page that were not released, newest first. */
export function listOldSlugs(reader: Reader, page: { id: string; slug: string }): OldSlug[] {
  return listSlugsOfPage(reader, { pageId: page.id }).filter(({ slug }) => slug !== page.slug);
}

/**
 * Releases an earlier slug of a page: it no longer leads to the page, and any page may take it.
 * Throws `not_found` for a slug of another page, `conflict` for the current one.
 */
export function releaseSlug(ctx: Ctx, tx: Tx, pageId: string, slug: string, actor: Actor): void {
  const page = getPage(tx, pageId);
  if (slug === page.slug) {
    throw conflict(`The slug ${slug} is the current one and cannot be released.`);
  }
  if (!listOldSlugs(tx, page).some((old) => old.slug === slug)) throw notFound("slug");
  deletePageSlug(tx, { pageId, slug });
  const summary = `Released the old slug ${slug} of the page “${page.name}”`;
  audit(ctx, tx, actor, "page.release_slug", page.id, summary);
  touchPage(ctx, tx, page.id);
  ctx.signals.addressesChanged.raise(tx);
}
