import type { AppContext } from "../../context";
import type { Reader, Tx } from "../../db";
import { conflict, notFound } from "../../errors";
import { audit } from "../../events";
import type { Actor } from "../../domain/actor";
import { getPage, moveAddresses, touchPage } from "./service";
import { deletePageSlug, listSlugsOfPage } from "./store";

/** A slug that a page had before, which still answers for it. */
export interface OldSlug {
  slug: string;
  /** Unix ms: when the page first had it. */
  createdAt: number;
}

/** The slugs that a page had before and has not released, the newest first. */
export function listOldSlugs(reader: Reader, page: { id: string; slug: string }): OldSlug[] {
  return listSlugsOfPage(reader, { pageId: page.id }).filter(({ slug }) => slug !== page.slug);
}

/**
 * Lets go of a slug that a page had before: it no longer leads to the page, and any page may take it.
 * Throws `not_found` for a slug that is not the page's, `conflict` for its present one.
 */
export function releaseSlug(
  ctx: Pick<AppContext, "clock" | "signals">,
  tx: Tx,
  pageId: string,
  slug: string,
  actor: Actor,
): void {
  const page = getPage(tx, pageId);
  if (slug === page.slug) {
    throw conflict(`The slug ${slug} is the page's present one and cannot be released.`);
  }
  if (!listOldSlugs(tx, page).some((old) => old.slug === slug)) throw notFound("slug");
  deletePageSlug(tx, { pageId, slug });
  const summary = `Released the old slug ${slug} of the page “${page.name}”`;
  audit(ctx, tx, actor, "page.release_slug", page.id, summary);
  touchPage(ctx, tx, page.id);
  moveAddresses(ctx, tx);
}
