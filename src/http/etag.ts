import { Problem } from "../errors";

/** A resource's entity tag: strong, its version. */
export function versionTag(version: number): string {
  return `"${version}"`;
}

/** Whether an If-None-Match header names a tag; compared weakly, as RFC 9110 has it. */
export function matchesAny(header: string, etag: string): boolean {
  if (header === etag) return true;
  return header
    .split(",")
    .map((tag) => tag.trim())
    .some((tag) => tag === "*" || tag === etag || tag === `W/${etag}`);
}

/**
 * Judges If-Match inside the transaction that would change the resource. Compared strongly: a weak
 * tag never matches. Throws `precondition_failed`.
 */
export function requireMatch(header: string | null, version: number): void {
  if (header === null) return;
  const etag = versionTag(version);
  const isMatch = header
    .split(",")
    .map((tag) => tag.trim())
    .some((tag) => tag === "*" || tag === etag);
  if (isMatch) return;
  throw new Problem(
    "precondition_failed",
    `The resource is at version ${etag}, not at the version that If-Match names.`,
    { headers: { ETag: etag } },
  );
}
