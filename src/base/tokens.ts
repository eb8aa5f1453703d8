/* Tokens that programs present. */
import { encodeBase62, type RandomBytes } from "./hash";

const TOKEN_BYTES = 32;
const TOKEN_LENGTH = 43;

/** Returns a new token: 32 random bytes in 43 base62 characters. */
export function newToken(random: RandomBytes): string {
  return encodeBase62(random(TOKEN_BYTES), TOKEN_LENGTH);
}

/** Returns the name of a token among those of its owner: the first 16 hexadecimal digits of its hash. */
export function tokenKey(hash: Buffer): string {
  return hash.toString("hex").slice(0, 16);
}
