import { notFound } from "../base/errors";
import type { Snapshot } from "../features/status/snapshot";
import type { Snapshots } from "../features/status/snapshots";
import { PUBLIC_CACHE } from "../http/cdn";
import { Representation, representOnce } from "../http/representation";
import type { RequestContext } from "../http/request-context";
import type { SentPage } from "../http/answers";

/**
 * Returns the snapshot of a public page at `now`, in unix ms, and notes that the answer shows the page. Throws
 * `not_found`, also for a private page, which callers without a key must not detect.
 */
export function readPublic(
  snapshots: Snapshots,
  slug: string,
  at: Pick<RequestContext, "now"> & { shownPageId?: string | undefined },
): Snapshot {
  const snapshot = snapshots.read(slug, at.now);
  if (snapshot?.document.page.visibility !== "public") throw notFound("status page");
  at.shownPageId = snapshot.document.page.id;
  return snapshot;
}

/** Creates the JSON of a public page once per snapshot. Every origin may read it. */
export function publicJson(
  make: (snapshot: Snapshot) => unknown,
): (snapshot: Snapshot) => Representation {
  return representOnce((snapshot: Snapshot) => jsonRepresentation(make(snapshot)));
}

/** Returns the representation of JSON that every origin may read and caches may store. */
export function jsonRepresentation(
  content: unknown,
  cacheControl: string = PUBLIC_CACHE,
): Representation {
  return new Representation(JSON.stringify(content), {
    mediaType: "application/json",
    cacheControl,
    isCrossOrigin: true,
  });
}

/** Declarations shared by the routes of public JSON. */
export const PUBLIC_JSON = {
  tag: "Status",
  access: { kind: "public" },
  onCustomDomain: "page",
  errors: ["not_found"],
  conditional: "etag",
  isCrossOrigin: true,
} as const;

/** An HTML page as the answer of a route. */
export const HTML_ANSWER = { description: "HTML.", mediaType: "text/html" } as const;

/** The answer to an earlier slug of a page. */
export const MOVED = {
  description: "The page now has another slug.",
  headers: { Location: "Path with the current slug." },
} as const;

/** Returns the representation of an HTML page that caches may store. */
export function htmlRepresentation(document: SentPage): Representation {
  return new Representation(document.html, {
    mediaType: "text/html;charset=utf-8",
    cacheControl: PUBLIC_CACHE,
    headers: { "Content-Security-Policy": document.policy },
  });
}
