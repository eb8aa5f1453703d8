import type { Ctx } from "../../context";
import { hostNameOf } from "./addresses";
import { listPagesWithDomains } from "./store";

/** A page as visitors of its custom domain see it. */
export interface DomainPage {
  slug: string;
  isPublic: boolean;
  /** All slugs of the page, including earlier ones. */
  slugs: ReadonlySet<string>;
}

/** Custom domains of pages. */
export interface Domains {
  /** Finds the page of a request's custom domain, by the absolute URL. */
  find(url: string): DomainPage | undefined;
}

/**
 * Creates the custom domains in memory. The next request reads them again, by one statement, after
 * a change of a page's addresses or of the public address, but not of a page's content. Without
 * custom domains a look-up is two comparisons.
 */
export function createDomains(ctx: Ctx): Domains {
  let pagesByDomain: ReadonlyMap<string, DomainPage> = new Map();
  let isStale = true;
  const drop = () => (isStale = true);
  ctx.signals.addressesChanged.on(drop);
  ctx.signals.settingsChanged.on(drop);

  function read(): ReadonlyMap<string, DomainPage> {
    const pages = new Map<string, DomainPage>();
    for (const { slug, visibility, customDomains, slugs } of listPagesWithDomains(ctx.db, {})) {
      const page = { slug, isPublic: visibility === "public", slugs: new Set(slugs) };
      for (const domain of customDomains) pages.set(domain, page);
    }
    pages.delete(hostNameOf(ctx.baseUrl));
    return pages;
  }

  function refresh(): void {
    try {
      pagesByDomain = read();
      isStale = false;
    } catch {
      // The earlier hosts are used until the database can be read again: every request passes here,
      // and those that need no database are still answered.
    }
  }

  return {
    find(url) {
      if (isStale) refresh();
      return pagesByDomain.size === 0 ? undefined : pagesByDomain.get(hostNameOf(url));
    },
  };
}
