import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { conflict, invalidFields } from "../../base/errors";
import { hostNameOf, toDomain } from "./references";
import { listPagesWithDomains } from "./store";

/**
 * Returns the custom domains of a page in the form that is stored. They are valid already. Throws
 * `validation_failed` for the host of the public address, where dashboard and API are, and
 * `conflict` for a domain of another page.
 */
export function takeDomains(
  ctx: Ctx,
  tx: Tx,
  texts: readonly string[],
  pageId: string | undefined,
): string[] {
  const domains = texts.flatMap((text) => toDomain(text) ?? []);
  const own = domains.indexOf(hostNameOf(ctx.baseUrl));
  if (own !== -1) {
    const detail = "is the host of the public address, where the dashboard and the API are";
    throw invalidFields([{ pointer: `#/custom_domains/${own}`, detail }]);
  }
  if (domains.length === 0) return domains;
  for (const other of listPagesWithDomains(tx, {})) {
    const taken =
      other.id === pageId ? undefined : domains.find((d) => other.customDomains.includes(d));
    if (taken) throw conflict(`The custom domain ${taken} is used by the page ${other.slug}.`);
  }
  return domains;
}

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
