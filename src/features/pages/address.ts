import type { FieldError } from "../../errors";
import type { PageRow } from "./store";

/** Maximum number of a page's custom domains. */
export const DOMAINS_MAX = 10;

const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const HOST_NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);
/** As the DNS has it. */
const NAME_MAX = 253;
/** In UTF-16 units: a longer text is none, and how IDNA writes it would take the square of its length. */
const TEXT_MAX = 2 * NAME_MAX;
/** Characters that end a URL's host, or that URL parsing decodes or drops. */
const NOT_OF_A_NAME = /[\s\p{C}/\\?#@:[\]%]/u;
const IPV4 = /^\d+(?:\.\d+){3}$/;

/**
 * A host name as requests name it: lower case, other letters than ASCII's as IDNA writes them, without a
 * dot at its end. Undefined for what is none: an address, a URL, a name with a port.
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
      complain("is a name of this machine itself");
    } else if (seen.has(domain)) complain("is in the list already");
    else seen.add(domain);
  }
  return fields;
}

/** The name in the Host of a request, from its absolute URL, in the form that `toDomain` gives. */
export function hostNameOf(url: string): string {
  const from = url.indexOf("://") + 3;
  const end = url.indexOf("/", from);
  const host = url.slice(from, end === -1 ? undefined : end).toLowerCase();
  const port = host.indexOf(":");
  const name = port === -1 ? host : host.slice(0, port);
  return name.endsWith(".") ? name.slice(0, -1) : name;
}

/** Properties of a page that its links are built from. */
export type PageAddress = Pick<PageRow, "slug" | "visibility" | "customDomains">;

/**
 * Returns the start of every absolute link to a page, without a trailing slash: its first custom
 * domain with the scheme of the public address and no port. For a page without custom domains, and
 * for a private page, which is not served on them, it is the public address.
 */
export function pageBaseUrl(
  baseUrl: string,
  page: Pick<PageAddress, "visibility" | "customDomains">,
): string {
  const [domain] = page.customDomains;
  if (domain === undefined || page.visibility === "private") return baseUrl;
  // It has come to be the public address's own, which may have a port.
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

/** The size in pixels of a logo, by its path or its URL: its file's name tells it. */
export function logoSize(path: string): { width: number; height: number } {
  const [, width = "1", height = "1"] = /-(\d+)x(\d+)\.[a-z]+$/.exec(path) ?? [];
  return { width: Number(width), height: Number(height) };
}
