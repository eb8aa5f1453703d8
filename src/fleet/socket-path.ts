import { mkdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OperatorError } from "../db";
import { sha256Hex } from "../kernel/hash";

/** Longest path of a socket that all systems accept, in bytes. */
const SOCKET_PATH_MAX = 100;

/** Returns the path of a socket: in the folder, or in one of the system with a short name. */
export function socketPath(folder: string, name: string): string {
  const path = join(folder, name);
  if (Buffer.byteLength(path) <= SOCKET_PATH_MAX) return path;
  const short = join(tmpdir(), `allclear-${sha256Hex(folder).slice(0, 16)}`);
  mkdirSync(short, { recursive: true, mode: 0o700 });
  const { uid } = statSync(short);
  if (uid !== process.getuid?.()) throw new OperatorError(`${short} belongs to user ${uid}.`);
  return join(short, name);
}
