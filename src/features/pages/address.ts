import { hostNameOf } from "./domain-name";
import type { PageRow } from "./store";

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
