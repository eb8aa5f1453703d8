import type { AppContext } from "../../context";
import type { Tx } from "../../db";
import { conflict, invalidFields } from "../../errors";
import { hostNameOf, toDomain } from "./address";
import { listPagesWithDomains } from "./store";

/**
 * The custom domains that a page is to have, as they are kept. What is wrong with them by themselves has
 * been judged already. Throws `validation_failed` for the public address's host, where the dashboard and
 * the API are, and `conflict` for another page's.
 */
export function takeDomains(
  ctx: Pick<AppContext, "baseUrl">,
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
    if (taken) throw conflict(`The custom domain ${taken} is the page ${other.slug}'s.`);
  }
  return domains;
}

/** A page, as somebody sees it who comes by its custom domain. */
export interface DomainPage {
  slug: string;
  isPublic: boolean;
  /** Every slug that answers for it, its present one included. */
  slugs: ReadonlySet<string>;
}

/** Custom domains of pages. */
export interface Domains {
  /** The page whose custom domain a request was sent to, by the request's absolute URL. */
  find(url: string): DomainPage | undefined;
}

/**
 * Host names in memory. After a change of where pages are found, of anything in another process, and of
 * the public address, whose host is never a page's own, the next request reads them again, by one
 * statement; what a page shows is nothing to them. Where no page has a custom domain, a look-up is two
 * comparisons.
 */
export function createDomains(ctx: Pick<AppContext, "baseUrl" | "db" | "signals">): Domains {
  let known: ReadonlyMap<string, DomainPage> = new Map();
  let isStale = true;
  const drop = () => (isStale = true);
  ctx.signals.addressesChanged.on(drop);
  ctx.signals.settingsChanged.on(drop);
  ctx.signals.databaseChangedElsewhere.on(drop);

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
      known = read();
      isStale = false;
    } catch {
      // Until the database can be read again, hosts are what they were: every request comes by here,
      // and what needs no database goes on answering.
    }
  }

  return {
    find(url) {
      if (isStale) refresh();
      return known.size === 0 ? undefined : known.get(hostNameOf(url));
    },
  };
}
