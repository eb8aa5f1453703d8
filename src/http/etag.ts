import { Problem } from "../errors";
import { sha256Hex } from "../kernel/hash";

/** Kind of entity tag: the version alone, or the version and a hash of what is shown. */
export type TagKind = "version" | "content";

/** A resource as the API shows it. Every change of its updates raises its version. */
export interface VersionedResource {
  version: number;
  updates?: unknown;
}

/** Returns the entity tag of an answer that only a new version changes. */
export function versionTag(version: number): string {
  return `"${version}"`;
}

/**
 * Returns the entity tag of a resource that also shows what its version does not cover, such as its page's
 * slug: the version and a hash of all that is shown but the updates.
 */
export function contentTag(resource: VersionedResource): string {
  const { updates: _, ...shown } = resource;
  return `"${shown.version}-${sha256Hex(JSON.stringify(shown)).slice(0, 16)}"`;
}

/** The end of a tag that `contentTag` made. */
const HASH_OF_TAG = /-[0-9a-f]{16}"$/;

/** Returns true if an If-None-Match header names a tag, by weak comparison (RFC 9110). */
export function matchesAny(header: string, etag: string): boolean {
  if (header === etag) return true;
  return header
    .split(",")
    .map((tag) => tag.trim())
    .some((tag) => tag === "*" || tag === etag || tag === `W/${etag}`);
}

/**
 * Judges If-Match inside the transaction that would change the resource. Of a tag, the version decides and
 * the hash is ignored. Compared strongly: a weak tag never matches. Throws `precondition_failed`.
 */
export function requireMatch(header: string | null, version: number): void {
  if (header === null) return;
  const etag = versionTag(version);
  const isMatch = header
    .split(",")
    .map((tag) => tag.trim())
    .some((tag) => tag === "*" || tag.replace(HASH_OF_TAG, '"') === etag);
  if (isMatch) return;
  throw new Problem(
    "precondition_failed",
    `The resource is at version ${etag}, not at the version that If-Match names.`,
    { headers: { ETag: etag } },
  );
}
