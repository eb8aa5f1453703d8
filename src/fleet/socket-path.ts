import { lstatSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OperatorError } from "../db/errors";
import { sha256Hex } from "../base/hash";

/** Longest path of a socket that all systems accept, in bytes. */
const SOCKET_PATH_MAX = 100;

/**
 * Returns the path of a socket: in the folder, or in one of the system with a short name. Throws an OperatorError if
 * another user could replace the socket there.
 */
export function socketPath(folder: string, name: string): string {
  const path = join(folder, name);
  if (Buffer.byteLength(path) <= SOCKET_PATH_MAX) return path;
  const short = join(tmpdir(), `allclear-${sha256Hex(folder).slice(0, 16)}`);
  mkdirSync(short, { recursive: true, mode: 0o700 });
  const { uid, mode } = lstatSync(short);
  if (uid !== process.getuid?.()) throw new OperatorError(`${short} belongs to user ${uid}.`);
  // A link has all rights.
  if ((mode & 0o077) !== 0) throw new OperatorError(`${short} is open to other users. Remove it.`);
  return join(short, name);
}
