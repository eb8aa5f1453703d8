/*
 * The public address of the dashboard: the only one at which a sign-in with the provider can begin, and with HTTPS the one
 * at which browsers store the session cookie.
 */
import { isHttps } from "../../features/auth/rules";
import { queryOf } from "../../http/request-context";
import { browserOrigin } from "./browser";
import { withQuery } from "./paths";

/**
 * Returns true if a browser shows the public address, and would store its cookies: by the host, the origin of a form, or
 * since it was led there, where a proxy replaces the host of every request. Clients can forge all of it.
 */
export function isAtPublicAddress(baseUrl: string, request: Request): boolean {
  const { host, origin } = new URL(baseUrl);
  const isSameHost = browserOrigin(request)?.host === host;
  return (
    (isSameHost && keepsCookies(baseUrl, request)) ||
    request.headers.get("origin") === origin ||
    queryOf(request).get("moved") === MOVED
  );
}

/** Marks a redirect to the public address, so that it happens once even if a proxy replaces the host. */
const MOVED = "yes";

/** Returns a path at the public address, to which a browser at another one is led. */
export function atPublicAddress(
  baseUrl: string,
  path: string,
  query: Record<string, string | undefined> = {},
): string {
  return baseUrl + withQuery(path, { ...query, moved: MOVED });
}

/**
 * Returns true if the browser would store the session cookie. With an HTTPS public address the
 * cookie is `Secure`, which browsers store over HTTPS or from localhost only.
 */
export function keepsCookies(baseUrl: string, request: Request): boolean {
  if (!isHttps(baseUrl)) return true;
  const { protocol, hostname } = browserOrigin(request) ?? {};
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(hostname ?? "");
  // A proxy may omit X-Forwarded-Proto, but browsers send this header over HTTPS only.
  return protocol === "https:" || isLocal || request.headers.has("sec-fetch-site");
}
