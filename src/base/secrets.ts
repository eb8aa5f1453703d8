/*
 * Descriptions of secrets in the plan of a configuration file, which must not show their values. A
 * secret that is null or missing in the file stays as it is; an empty text removes it.
 */

/** Describes any secret. */
export const SECRET = "a secret";

/** Describes a secret that replaces another. */
export const ANOTHER_SECRET = "another secret";

/** Error of a secret that should stay as it is, but is not stored. */
export const MISSING_SECRET =
  "is a secret that is not known here yet: give it, such as ${NAME} of a variable";

/** Describes a stored secret, which may be undefined, and the secret of a file. */
export function describeSecretChange(
  stored: unknown,
  declared: unknown,
): { current: string | null; desired: string | null } {
  const current = stored === undefined ? null : SECRET;
  if (declared === undefined || declared === null || declared === stored)
    return { current, desired: current };
  if (declared === "") return { current, desired: null };
  return { current, desired: current === null ? SECRET : ANOTHER_SECRET };
}
