const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/**
 * Writes bytes, read as one big-endian number, in base 62 with leading zeros up to `length` digits.
 * Throws when the number needs more digits than that.
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
