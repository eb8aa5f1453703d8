import { Problem } from "../base/errors";
import { sha256Hex } from "../base/hash";

/** Kind of entity tag: made by `versionTag` or by `contentTag`. */
export type TagKind = "version" | "content";

/** A resource as the API shows it. A change of its updates raises its version, too. */
export interface VersionedResource {
  version: number;
  updates?: unknown;
}

/** Returns the entity tag of a resource that changes only with its version. */
export function versionTag(version: number): string {
  return `"${version}"`;
}

/**
 * Returns the entity tag of a resource that also shows facts that its version does not cover, such as its
 * page's slug: the version and a hash of all fields except the updates.
 */
export function contentTag(resource: VersionedResource): string {
  const { updates: _, ...shown } = resource;
  return `"${shown.version}-${sha256Hex(JSON.stringify(shown)).slice(0, 16)}"`;
}

/** Hash at the end of a tag from `contentTag`. */
const CONTENT_HASH = /-[0-9a-f]{16}"$/;

/** Returns true if an If-None-Match header names a tag or `*`. The comparison is weak (RFC 9110). */
export function matchesIfNoneMatch(header: string, etag: string): boolean {
  return tagsIn(header).some((tag) => tag === "*" || tag === etag || tag === `W/${etag}`);
}

/**
 * Throws `precondition_failed` unless If-Match names the version. Called in the transaction of the change.
 * Tags of both kinds match by their version. A weak tag matches as its strong twin: proxies that compress weaken
 * tags, and the version in them is exact.
 */
export function requireIfMatch(header: string | null, version: number): void {
  if (header === null) return;
  const etag = versionTag(version);
  const versions = tagsIn(header).map((tag) =>
    tag.replace(/^W\/(?=")/, "").replace(CONTENT_HASH, '"'),
  );
  if (versions.some((tag) => tag === "*" || tag === etag)) return;
  throw new Problem(
    "precondition_failed",
    `The resource is at version ${etag}, not at the version that If-Match names.`,
    { headers: { ETag: etag } },
  );
}

function tagsIn(header: string): string[] {
  return header.split(",").map((tag) => tag.trim());
}
