import { encodeBase62, type RandomBytes, sha256 } from "../../base/hash";

/*
 * Token of a session or one-time link: 32 random bytes in 43 base62 characters. The database stores
 * only its SHA-256, by which it is found.
 */
const TOKEN_BYTES = 32;
const TOKEN_LENGTH = 43;
const SHAPE = /^[0-9A-Za-z]{43}$/;

export function generateToken(random: RandomBytes): string {
  return encodeBase62(random(TOKEN_BYTES), TOKEN_LENGTH);
}

/** Returns the hash of a token; undefined for a text of another shape. */
export function hashToken(token: string): Buffer | undefined {
  return SHAPE.test(token) ? sha256(token) : undefined;
}
