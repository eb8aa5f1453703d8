/*
 * How secrets are told where they must not be: in what is compared and shown of a file, which need not hold
 * them. One that is null or left out stays as it is; an empty text takes one away.
 */

/** A secret, whichever. */
export const SECRET = "a secret";
/** Another than the one before. */
export const ANOTHER_SECRET = "another secret";
/** Error of a secret that should stay as it is, but is not stored. */
export const MISSING_SECRET =
  "is a secret that is not known here yet: give it, such as ${NAME} of a variable";

/** Tells of a secret as it is, undefined where there is none, and as a file asks for it. */
export function describeSecretChange(
  has: unknown,
  asked: unknown,
): { present: string | null; desired: string | null } {
  const present = has === undefined ? null : SECRET;
  if (asked === undefined || asked === null || asked === has) return { present, desired: present };
  if (asked === "") return { present, desired: null };
  return { present, desired: present === null ? SECRET : ANOTHER_SECRET };
}
