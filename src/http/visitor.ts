/*
 * Parts of a request that let a visitor into a private page: grants in cookies, and the address with the host that was
 * asked.
 */
import type { ClientAddress } from "../base/client-address";
import { isHttps } from "../features/auth/rules";
import { hostNameOf } from "../features/pages/addresses";
import type { Grant } from "../features/pages/visits";
import { type Address, cookieValues, setCookie } from "./cookies";
import type { RequestContext } from "./request-context";

/** Request of a visitor, and the page whose custom domain it was sent to. */
type Visit = Pick<RequestContext, "request" | "domain">;

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
  return setCookie(grantName(isSecure, pageId), value, maxAgeSeconds, isSecure);
}

/** Returns the name of the cookie with a grant. As that of a session, it has a prefix over HTTPS. An id begins with `page_`. */
function grantName(isSecure: boolean, pageId: string): string {
  return `${isSecure ? "__Host-" : ""}allclear_${pageId}`;
}

/** Returns true for the host of the public address and for custom domains, which have the scheme of that address. */
function isServedAsAddress({ baseUrl }: Address, { request, domain }: Visit): boolean {
  return domain !== undefined || hostNameOf(request.url) === hostNameOf(baseUrl);
}

/**
 * Returns true if browsers reach the host of a request over HTTPS. For other host names the request shows the scheme: a
 * form has it in `Origin`, and of links only those over HTTPS have `Sec-Fetch-Site`.
 */
function isSecureHost(address: Address, visit: Visit): boolean {
  if (isServedAsAddress(address, visit)) return isHttps(address.baseUrl);
  const { headers } = visit.request;
  const origin = headers.get("origin");
  return origin === null ? headers.has("sec-fetch-site") : isHttps(origin);
}

/** Headers that proxies add, besides `X-Forwarded-For`, which the gateway has examined. */
const OF_PROXIES =
  /^(?:via|forwarded|x-forwarded(?:-.+)?|(?:x-real|x-client|x-cluster-client|true-client|cf-connecting|fastly-client)-ip)$/;

/**
 * Returns the client address with `isDoubtful` decided. Reads more headers than the gateway, which must stay fast: a peer
 * that is not a trusted proxy and sends one of them may be a proxy.
 */
export function visitorAddress({
  address,
  request: { headers },
}: Pick<RequestContext, "address" | "request">): ClientAddress {
  if (address.isDoubtful !== undefined) return address;
  const isNamed = headers.has("x-forwarded-for");
  const isDoubtful = !isNamed && [...headers.keys()].some((name) => OF_PROXIES.test(name));
  return { ...address, isDoubtful };
}

/** Names that are never another site's: addresses, names of one label, and those of local networks. */
const LOCAL_NAME =
  /^[^.]+$|^\d+(?:\.\d+){3}$|\.(?:local|localhost|lan|home|internal|corp|home\.arpa)$/;

/**
 * Returns true if the host of a request can belong to this installation alone. Any other name may be that of a site whose
 * pages read this server in a visitor's browser (DNS rebinding), which sends them no cookies, but from the visitor's
 * network.
 */
export function isOwnHost(address: Address, visit: Visit): boolean {
  return isServedAsAddress(address, visit) || LOCAL_NAME.test(hostNameOf(visit.request.url));
}
