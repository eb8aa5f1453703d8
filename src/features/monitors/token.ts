import { encodeBase62 } from "../../kernel/base62";
import { sha256, sha256Hex } from "../../kernel/hash";
import type { RandomBytes } from "../../kernel/random";

/*
 * The secret with which a watched job calls: 32 random bytes in 43 base62 characters. The job has it;
 * the database keeps its SHA-256.
 */
const TOKEN_BYTES = 32;
const TOKEN_LENGTH = 43;
const SHAPE = /^[0-9A-Za-z]{43}$/;

/** A new token and what is kept of it. */
export function generateHeartbeatToken(random: RandomBytes): { token: string; hash: Buffer } {
  const token = encodeBase62(random(TOKEN_BYTES), TOKEN_LENGTH);
  return { token, hash: sha256(token) };
}

/** The hash that a token is found by, in hexadecimal; undefined for a text that can be none. */
export function hashHeartbeatToken(token: string): string | undefined {
  return SHAPE.test(token) ? sha256Hex(token) : undefined;
}
