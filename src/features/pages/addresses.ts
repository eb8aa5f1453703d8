import type { FieldError } from "../../base/errors";
import type { Ctx } from "../../context";
import { listPagesWithDomains, type PageRow } from "./store";

/** Maximum number of a page's custom domains. */
export const DOMAINS_MAX = 10;

const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const HOST_NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);
/** Maximum length of a DNS name. */
const NAME_MAX = 253;
/**
 * Maximum length of a text, in UTF-16 units: IDNA conversion takes time that grows with the square
 * of the length.
 */
const TEXT_MAX = 2 * NAME_MAX;
/** Characters that end a URL's host, or that URL parsing decodes or drops. */
const NOT_OF_A_NAME = /[\s\p{C}/\\?#@:[\]%]/u;
const IPV4 = /^\d+(?:\.\d+){3}$/;

/**
 * Returns a host name as requests send it: in lower case, in IDNA's ASCII form, without a final
 * dot. Undefined for other texts: an IP address, a URL, a name with a port.
 */
export function toDomain(text: string): string | undefined {
  if (text.length > TEXT_MAX || NOT_OF_A_NAME.test(text)) return undefined;
  try {
    const name = new URL(`http://${text}`).hostname.replace(/\.$/, "");
    const isName = name.length <= NAME_MAX && HOST_NAME.test(name) && !IPV4.test(name);
    return isName ? name : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the errors of a list of custom domains, below `#/custom_domains`. */
export function validateDomains(texts: readonly string[]): FieldError[] {
  const fields: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, text] of texts.entries()) {
    const complain = (detail: string) =>
      fields.push({ pointer: `#/custom_domains/${index}`, detail });
    const domain = toDomain(text);
    if (domain === undefined) {
      complain("must be a host name such as status.example.com, without https://, port or path");
    } else if (domain === "localhost" || domain.endsWith(".localhost")) {
      complain("must not be a name of this machine");
    } else if (seen.has(domain)) complain("is already in the list");
    else seen.add(domain);
  }
  return fields;
}

/** Returns the host name in the absolute URL of a request, in the form of `toDomain`. */
export function hostNameOf(url: string): string {
  const from = url.indexOf("://") + 3;
  const end = url.indexOf("/", from);
  const host = url.slice(from, end === -1 ? undefined : end).toLowerCase();
  const port = host.indexOf(":");
  const name = port === -1 ? host : host.slice(0, port);
  return name.endsWith(".") ? name.slice(0, -1) : name;
}

/** Properties of a page that its links are built from. */
export type PageAddress = Pick<PageRow, "slug" | "customDomains"> & Served;

/** Properties that decide if a page is served at `/` and on its custom domains. */
type Served = Pick<PageRow, "visibility" | "passwordId" | "hasLinks">;

/**
 * Returns true for a page that is served on its custom domains and, as the default page, at `/`: a public one, or a
 * private one with a password or links.
 */
export function isServed({ visibility, passwordId, hasLinks }: Served): boolean {
  return visibility === "public" || passwordId !== null || hasLinks;
}

/**
 * Returns the start of every absolute link to a page, without a trailing slash: its first custom
 * domain with the scheme of the public address and no port. For a page without custom domains, and
 * for one that is not served on them, it is the public address.
 */
export function pageBaseUrl(baseUrl: string, page: Omit<PageAddress, "slug">): string {
  const [domain] = page.customDomains;
  if (domain === undefined || !isServed(page)) return baseUrl;
  // The public address now has this host, possibly with a port.
  if (domain === hostNameOf(baseUrl)) return baseUrl;
  return `${baseUrl.slice(0, baseUrl.indexOf(":"))}://${domain}`;
}

/**
 * Returns the address of a page, below which everything of the page lies. `baseUrl` is the server's
 * public address.
 */
export function pageUrl(baseUrl: string, page: PageAddress): string {
  return `${pageBaseUrl(baseUrl, page)}/status/${page.slug}`;
}

/** Returns the path of a page's logo on this server; null if the page has none. */
export function logoPath(page: Pick<PageRow, "slug" | "logo">): string | null {
  return page.logo === null ? null : `/status/${page.slug}/logo/${page.logo}`;
}

/** Returns the path of a page's favicon on this server; null if the page has none. */
export function faviconPath(page: Pick<PageRow, "slug" | "favicon">): string | null {
  return page.favicon === null ? null : `/status/${page.slug}/favicon/${page.favicon}`;
}

/** Returns the size of a logo or favicon in pixels, from its path or URL: the file name contains it. */
export function logoSize(path: string): { width: number; height: number } {
  const [, width = "1", height = "1"] = /-(\d+)x(\d+)\.[a-z]+$/.exec(path) ?? [];
  return { width: Number(width), height: Number(height) };
}

/** A page as visitors of its custom domain see it. */
export interface DomainPage {
  slug: string;
  isPublic: boolean;
  isServed: boolean;
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
    for (const row of listPagesWithDomains(ctx.db, {})) {
      const page = {
        slug: row.slug,
        isPublic: row.visibility === "public",
        isServed: isServed(row),
        slugs: new Set(row.slugs),
      };
      for (const domain of row.customDomains) pages.set(domain, page);
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
