/* Cookies with grants for private pages. */
import { isHttps } from "../features/auth/rules";
import { hostNameOf } from "../features/pages/addresses";
import type { Grant } from "../features/pages/visits";
import { type Address, cookieAttributes, cookieValues } from "./cookies";
import type { RequestContext } from "./request-context";

/** Request of a visitor, and the page whose custom domain it was sent to. */
type Visit = Pick<RequestContext, "request" | "domain">;

/** Returns the name of the cookie with a grant. As that of a session, it has a prefix over HTTPS. An id begins with `page_`. */
function grantName(isSecure: boolean, pageId: string): string {
  return `${isSecure ? "__Host-" : ""}allclear_${pageId}`;
}

/** Returns the grants for a private page that a request carries, true ones or not. */
export function readGrants(address: Address, visit: Visit, pageId: string): string[] {
  const kinds = isServedAsAddress(address, visit) ? [isHttps(address.baseUrl)] : [true, false];
  return kinds.flatMap((isSecure) => cookieValues(visit.request, grantName(isSecure, pageId)));
}

/** Returns the `Set-Cookie` header of a grant for a private page, as the host of the request keeps it. */
export function grantCookie(
  address: Address,
  visit: Visit,
  pageId: string,
  { value, maxAgeSeconds }: Grant,
): string {
  const isSecure = isSecureHost(address, visit);
  const name = grantName(isSecure, pageId);
  return `${name}=${value}; Max-Age=${maxAgeSeconds}; ${cookieAttributes(isSecure)}`;
}

/** Returns true for the host of the public address and for custom domains, which have the scheme of that address. */
function isServedAsAddress({ baseUrl }: Address, { request, domain }: Visit): boolean {
  return domain !== undefined || hostNameOf(request.url) === hostNameOf(baseUrl);
}

/**
 * Returns true if browsers reach the host of a request over HTTPS. For names of this machine that are not known, the
 * browser shows it: a form has its scheme in `Origin`, and of links only those over HTTPS have `Sec-Fetch-Site`.
 */
function isSecureHost(address: Address, visit: Visit): boolean {
  if (isServedAsAddress(address, visit)) return isHttps(address.baseUrl);
  const { request } = visit;
  const origin = request.headers.get("origin");
  return origin === null ? request.headers.has("sec-fetch-site") : isHttps(origin);
}
