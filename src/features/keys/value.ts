import {
  crc32,
  decodeBase62Number,
  encodeBase62,
  encodeBase62Number,
  type RandomBytes,
  sha256,
} from "../../base/hash";
import { findKeyShape } from "../../base/ids";

/*
 * A key's value: `allclear_`, 43 base62 characters (32 random bytes), and 6 base62 characters of
 * CRC-32 over the characters before them. With the checksum, a mistyped value is rejected without a
 * look-up, and secret scanners recognise real values.
 */
/** Prefix of every key value. */
export const KEY_PREFIX = "allclear_";
const SECRET_BYTES = 32;
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const START_LENGTH = 13;
const VALUE_LENGTH = KEY_PREFIX.length + SECRET_LENGTH + CHECKSUM_LENGTH;
const SHAPE = /^allclear_[0-9A-Za-z]{49}$/;

/** Makes a new value. It is shown once; only its hash is kept. */
export function generateKeyValue(random: RandomBytes): string {
  const body = KEY_PREFIX + encodeBase62(random(SECRET_BYTES), SECRET_LENGTH);
  return body + checksum(body);
}

/** Returns true if a text has a key value's shape and a valid checksum. The key may not exist. */
export function isKeyValue(text: string): boolean {
  if (text.length !== VALUE_LENGTH || !SHAPE.test(text)) return false;
  const body = text.slice(0, -CHECKSUM_LENGTH);
  return decodeBase62Number(text, VALUE_LENGTH - CHECKSUM_LENGTH) === crc32(body);
}

/** Returns the start of the first key value in a text; undefined without a key value. */
export function startOfValueIn(text: string): string | undefined {
  const shape = findKeyShape(text);
  return shape === undefined ? undefined : keyValueStart(shape);
}

/** Returns the SHA-256 of a value, which is stored and by which a value is found. */
export function hashKeyValue(value: string): Buffer {
  return sha256(value);
}

/** Returns the first characters of a value, by which people recognise it. */
export function keyValueStart(value: string): string {
  return value.slice(0, START_LENGTH);
}

function checksum(body: string): string {
  return encodeBase62Number(crc32(body), CHECKSUM_LENGTH);
}
