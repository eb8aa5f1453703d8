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
