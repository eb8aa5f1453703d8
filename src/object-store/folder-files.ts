import { type FileHandle, open } from "node:fs/promises";
import { sha256Hex } from "../base/hash";

/** Bytes that are copied at once. */
const PIECE_BYTES = 1_024 * 1_024;

/** Creates a file and flushes it to the disk. */
export async function writeFlushed(file: string, bytes: Uint8Array): Promise<void> {
  await using handle = await open(file, "wx");
  await handle.writeFile(bytes);
  await handle.sync();
}

/** Copies what `read` returns until it returns nothing. Resolves to the size and the entity tag. */
export async function copyPieces(
  read: (buffer: Buffer) => Promise<{ bytesRead: number }>,
  target: FileHandle,
): Promise<{ size: number; etag: string }> {
  const hash = new Bun.CryptoHasher("sha256");
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  for (let size = 0; ;) {
    const { bytesRead } = await read(buffer);
    if (bytesRead === 0) return { size, etag: `"${hash.digest("hex")}"` };
    size += bytesRead;
    const piece = buffer.subarray(0, bytesRead);
    hash.update(piece);
    await target.writeFile(piece);
  }
}

/** Returns the entity tag of some content. */
export function etagOf(bytes: Uint8Array): string {
  return `"${sha256Hex(bytes)}"`;
}

/** Returns the code of an error of the file system. */
export function codeOf(error: unknown): string | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : undefined;
}

/** Returns the code of an error of the file system with its text, such as "EACCES: permission denied". */
export function describeFileError(error: unknown, code: string): string {
  const [, text] = /^\w+: ([a-z -]+)/.exec((error as Error).message) ?? [];
  return text === undefined ? code : `${code}: ${text}`;
}

/** Returns true if a path has no file: nothing, a folder, or a path below a file. */
function isMissing(error: unknown): boolean {
  return /^(ENOENT|ENOTDIR|EISDIR)$/.test(codeOf(error) ?? "");
}

/** Returns undefined for the error of a missing file, and throws all others. */
export function undefinedIfMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

/** Returns undefined if the file that is read is missing. */
export function missingAsUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    return undefinedIfMissing(error);
  }
}
