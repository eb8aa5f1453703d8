/** Returns the SHA-256 of bytes or of UTF-8 text in lower-case hexadecimal: 64 characters. */
export function sha256Hex(content: string | Uint8Array): string {
  return Bun.SHA256.hash(content, "hex");
}

/** Returns the SHA-256 of bytes or of UTF-8 text: 32 bytes. */
export function sha256(content: string | Uint8Array): Buffer {
  return Buffer.from(Bun.SHA256.hash(content).buffer);
}

/** Returns the SHA-256 of UTF-8 text in Base64, as in a Content-Security-Policy. */
export function sha256Base64(content: string): string {
  return Bun.SHA256.hash(content, "base64");
}

/** Returns the CRC-32 (IEEE polynomial, as in zip and PNG) of a text: a number below 2^32. */
export function crc32(text: string): number {
  return Bun.hash.crc32(text);
}

/** Returns `size` random bytes. Part of the context, so that tests can repeat a run. */
export type RandomBytes = (size: number) => Uint8Array;

/** Cryptographically secure generator of the operating system. */
export const systemRandom: RandomBytes = (size) => crypto.getRandomValues(new Uint8Array(size));

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/**
 * Writes bytes, as one big-endian number, in base 62, padded with zeros to `length` digits. Throws if the
 * number has more digits.
 */
export function encodeBase62(bytes: Uint8Array, length: number): string {
  let rest = 0n;
  for (const byte of bytes) rest = (rest << 8n) | BigInt(byte);
  let text = "";
  while (rest > 0n) {
    text = DIGITS.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  if (text.length > length) throw new RangeError(`the number does not fit ${length} base62 digits`);
  return text.padStart(length, "0");
}

/** Writes a whole number from 0 to 2^53 − 1 in base 62, padded with zeros to `length` digits. */
export function encodeBase62Number(value: number, length: number): string {
  let rest = value;
  let text = "";
  for (let i = 0; i < length; i++) {
    text = DIGITS.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  }
  if (rest > 0) throw new RangeError(`the number does not fit ${length} base62 digits`);
  return text;
}

const DIGIT_VALUES = new Map(Array.from(DIGITS, (digit, value) => [digit.charCodeAt(0), value]));

/** Reads a number in base 62 from the position `start` on; undefined if there is any other character. */
export function decodeBase62Number(text: string, start = 0): number | undefined {
  let value = 0;
  for (let i = start; i < text.length; i++) {
    const digit = DIGIT_VALUES.get(text.charCodeAt(i));
    if (digit === undefined) return undefined;
    value = value * 62 + digit;
  }
  return value;
}
