import { toRef } from "../../kernel/text";

// Room for a hyphen and a number in the 63 characters of a ref.
const STEM_MAX = 58;

/**
 * A ref made from a name: that of a sibling steps aside for it with a number behind. A name without a
 * letter or digit of ASCII gives `fallback`.
 */
export function freeRef(
  name: string,
  fallback: string,
  holderOf: (ref: string) => unknown,
): string {
  const desired = toRef(name) || fallback;
  let ref = desired;
  for (let n = 2; holderOf(ref) !== undefined; n++) ref = `${desired.slice(0, STEM_MAX)}-${n}`;
  return ref;
}
