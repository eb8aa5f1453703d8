/** SHA-256 of a text's UTF-8 bytes, in lower-case hexadecimal: 64 characters. */
export function sha256Hex(content: string | Uint8Array): string {
  return Bun.SHA256.hash(content, "hex");
}

/** SHA-256 of a text's UTF-8 bytes: 32 bytes. */
export function sha256(content: string | Uint8Array): Buffer {
  return Buffer.from(Bun.SHA256.hash(content).buffer);
}

/** SHA-256 of a text's UTF-8 bytes, in Base64: the form in which a content policy names it. */
export function sha256Base64(content: string): string {
  return Bun.SHA256.hash(content, "base64");
}

/** CRC-32 (the IEEE polynomial of zip and PNG) of a text, as a number below 2^32. */
export function crc32(text: string): number {
  return Bun.hash.crc32(text);
}
