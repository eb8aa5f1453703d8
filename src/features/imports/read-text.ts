import { OperatorError } from "../../db";

/** Maximum size of a file, in MiB. */
const MEBIBYTES_MAX = 64;

/** Reads a file or a pipe, up to 64 MiB. Throws an OperatorError. */
export async function readText(path: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const piece of Bun.file(path).stream()) {
      length += piece.byteLength;
      if (length > MEBIBYTES_MAX * 1024 * 1024) {
        throw new OperatorError(`${path} is larger than ${MEBIBYTES_MAX} MiB.`);
      }
      pieces.push(piece);
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof OperatorError) throw error;
    if (code === "ENOENT") throw new OperatorError(`There is no file ${path}.`);
    if (code === "EISDIR") throw new OperatorError(`${path} is a directory; import needs a file.`);
    throw new OperatorError(`${path} cannot be read: ${message}`);
  }
  return new TextDecoder().decode(Buffer.concat(pieces));
}
