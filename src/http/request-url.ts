import type { TSchema } from "@sinclair/typebox";
import { containsKeyShape } from "../base/ids";
import { invalidParameter, Problem } from "../base/errors";

export interface SplitUrl {
  path: string;
  query: string;
}

/**
 * Returns path and query of an absolute URL as they were sent; undefined if a bad Host left the URL
 * relative. `URL.parse` would resolve dot segments and replace backslashes.
 */
export function splitUrl(url: string): SplitUrl | undefined {
  if (!url.startsWith("http")) return undefined;
  const pathAt = url.indexOf("/", url.indexOf("://") + 3);
  if (pathAt === -1) return undefined;
  const queryAt = url.indexOf("?", pathAt);
  if (queryAt === -1) return { path: url.slice(pathAt), query: "" };
  return { path: url.slice(pathAt, queryAt), query: url.slice(queryAt + 1) };
}

/** Returns the parameters of a request's query. */
export function queryOf({ url }: Request): URLSearchParams {
  return new URLSearchParams(splitUrl(url)?.query);
}

/** Returns the decoded segments of a request's path, which can be decoded. A slash at its end adds none. */
export function segmentsOf({ url }: Request): string[] {
  const { path } = splitUrl(url) ?? { path: "/" };
  return withoutSlash(path).split("/").slice(1).map(decodeURIComponent);
}

/** Returns a path without one slash at its end. */
export function withoutSlash(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}

/** Returns false for several Host headers, which the runtime joins by commas (RFC 9112 asks for 400). */
export function hasOneHost(headers: Headers): boolean {
  return headers.get("host")?.includes(",") !== true;
}

/**
 * Returns the request that GET's handler gets for HEAD, of which the server sends only the headers of its
 * answer, and for another spelling of its path.
 */
export function asGet({ headers }: Request, path: string, query: string): Request {
  // The original host may not be valid in a URL.
  return new Request(`http://localhost${path}${query === "" ? "" : `?${query}`}`, { headers });
}

/** Returns 400 for a query that contains an API key or an access token, since queries are logged. */
export function queryProblem(query: string): Problem | undefined {
  if (query === "") return undefined;
  for (const [name, value] of new URLSearchParams(query)) {
    if (name === "access_token" || containsKeyShape(value) || containsKeyShape(name)) {
      return new Problem(
        "invalid_request",
        "An API key must not be in the query string, because logs keep it. Send it in the Authorization header, and rotate this key.",
      );
    }
  }
  return undefined;
}

/**
 * Returns the problem of a query that contains a declared parameter more than once: readers would differ
 * in which value counts. Undeclared parameters are ignored.
 */
export function repeatedParameterProblem(
  declared: TSchema | undefined,
  query: string,
): Problem | undefined {
  if (query === "" || declared === undefined) return undefined;
  const names = declared["properties"] as Record<string, unknown>;
  const seen = new Set<string>();
  for (const name of new URLSearchParams(query).keys()) {
    if (!Object.hasOwn(names, name)) continue;
    if (seen.has(name)) return invalidParameter(name, "is given more than once");
    seen.add(name);
  }
  return undefined;
}
