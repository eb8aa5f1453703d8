/** Limit of S3 for a key with its path, in bytes. */
const KEY_MAX_BYTES = 1_024;

/**
 * Returns an error of a key, as the end of a sentence. Valid keys are relative paths that no server, proxy or file
 * system changes: `..` would leave the path, and an empty segment or a dot is lost on the way.
 */
export function objectKeyError(key: string): string | undefined {
  if (key === "") return "is empty";
  if (Buffer.byteLength(key) > KEY_MAX_BYTES) return `has more than ${KEY_MAX_BYTES} bytes`;
  if (!key.isWellFormed()) return "is not valid Unicode";
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f\\]/.test(key)) return "has a control character or a backslash";
  const isInvalid = key.split("/").some((segment) => /^\.{0,2}$/.test(segment));
  return isInvalid ? "has an empty segment or one of dots" : undefined;
}
