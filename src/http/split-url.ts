export interface SplitUrl {
  path: string;
  query: string;
}

/** Path and query of an absolute URL; undefined where a bad Host left the URL relative. */
export function splitUrl(url: string): SplitUrl | undefined {
  if (!url.startsWith("http")) return undefined;
  const pathAt = url.indexOf("/", url.indexOf("://") + 3);
  if (pathAt === -1) return undefined;
  const queryAt = url.indexOf("?", pathAt);
  if (queryAt === -1) return { path: url.slice(pathAt), query: "" };
  return { path: url.slice(pathAt, queryAt), query: url.slice(queryAt + 1) };
}
