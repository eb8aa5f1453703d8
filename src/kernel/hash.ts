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
