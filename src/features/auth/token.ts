import { encodeBase62 } from "../../kernel/base62";
import { sha256 } from "../../kernel/hash";
import type { RandomBytes } from "../../kernel/random";

/*
 * The secret of a session or of a link that works once: 32 random bytes in 43 base62 characters. Its
 * holder has it; the database keeps its SHA-256, which is also what it is found by.
 */
const TOKEN_BYTES = 32;
const TOKEN_LENGTH = 43;
const SHAPE = /^[0-9A-Za-z]{43}$/;

export function generateToken(random: RandomBytes): string {
  return encodeBase62(random(TOKEN_BYTES), TOKEN_LENGTH);
}

/** The hash that a token is found by; undefined for a text that can be none, whatever was stored. */
export function hashToken(token: string): Buffer | undefined {
  return SHAPE.test(token) ? sha256(token) : undefined;
}
