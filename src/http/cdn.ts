/** Seconds for which shared caches keep a public document without `--cdn`. */
const SHARED_SECONDS = 15;

/** Part of `Cache-Control` that `--cdn` replaces. */
const SHARED_AGE = `s-maxage=${SHARED_SECONDS}`;

/** `Cache-Control` of public documents. */
export const PUBLIC_CACHE = `public, max-age=15, ${SHARED_AGE}, stale-while-revalidate=60, stale-if-error=86400`;

/** `Cache-Control` of results of checks, which change without a purge: for 15 seconds, also with `--cdn`. */
export const RESULTS_CACHE = "public, max-age=15, stale-while-revalidate=60, stale-if-error=86400";

/** `Cache-Control` of scripts that other sites load with each of their pages. */
export const WIDGET_CACHE = `public, max-age=300, ${SHARED_AGE}, stale-while-revalidate=3600, stale-if-error=86400`;

/** `Cache-Control` of the absence of a part of a public page, which may appear soon. */
export const MISSING_CACHE = "public, max-age=5";

/** `Cache-Control` of an asset whose name contains a hash of its bytes. */
export const IMMUTABLE = "public, max-age=31536000, immutable";

/** Headers of one visitor's request, which a shared cache would send to all. */
const OF_ONE_VISITOR = [
  "RateLimit",
  "RateLimit-Policy",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "X-Request-Id",
];

/** Tag of all answers that shared caches may store. */
export const TAG_OF_ALL = "all";

/** Returns the tag of the answers with content of a page. */
export function tagOfPage(pageId: string): string {
  return `page-${pageId}`;
}

/** Prepares answers for the CDN that `--cdn` names. */
export interface Cdn {
  /**
   * Prepares the headers of an answer that shared caches may store: its lifetime, its tags, and nothing of one
   * visitor. Returns false for every other answer and changes nothing.
   */
  share(headers: Headers, pageId: string | undefined): boolean;
}

/** Creates the preparation for a CDN that keeps public documents for some seconds. */
export function createCdn(seconds: number): Cdn {
  return {
    share(headers, pageId) {
      const rule = headers.get("Cache-Control");
      if (!rule?.startsWith("public")) return false;
      headers.set("Cache-Control", rule.replace(SHARED_AGE, `s-maxage=${seconds}`));
      const tags = pageId === undefined ? [TAG_OF_ALL] : [tagOfPage(pageId), TAG_OF_ALL];
      headers.set("Surrogate-Key", tags.join(" "));
      headers.set("Cache-Tag", tags.join(","));
      for (const name of OF_ONE_VISITOR) headers.delete(name);
      return true;
    },
  };
}
