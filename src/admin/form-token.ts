import type { AppContext } from "../context";
import { encodeBase62 } from "../kernel/base62";

const TOKEN_BYTES = 16;
const TOKEN_LENGTH = 22;

/**
 * Returns a random value that identifies one rendering of a form, so that a repeated submission is
 * recognised.
 */
export function newFormToken({ random }: Pick<AppContext, "random">): string {
  return encodeBase62(random(TOKEN_BYTES), TOKEN_LENGTH);
}
