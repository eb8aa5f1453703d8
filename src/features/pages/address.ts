import { hostNameOf } from "./domain-name";
import type { PageRow } from "./store";

/** What links to a page are built from. */
export type PageAddress = Pick<PageRow, "slug" | "visibility" | "customDomains">;

/**
 * What every absolute link to a page begins with, without a slash at its end: its first custom domain,
 * under the scheme of the public address and without a port. Of a page that has none the public address
 * itself, and of a private one too, since it is not there on its domains.
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

/** Where people read a page; what belongs to it is below. `baseUrl` is the server's public address. */
export function pageUrl(baseUrl: string, page: PageAddress): string {
  return `${pageBaseUrl(baseUrl, page)}/status/${page.slug}`;
}
