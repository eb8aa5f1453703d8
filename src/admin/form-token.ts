import type { AppContext } from "../context";
import { encodeBase62 } from "../kernel/base62";

const TOKEN_BYTES = 16;
const TOKEN_LENGTH = 22;

/** A random field that makes each showing of a form its own, so that sending it twice can be told. */
export function newFormToken({ random }: Pick<AppContext, "random">): string {
  return encodeBase62(random(TOKEN_BYTES), TOKEN_LENGTH);
}
