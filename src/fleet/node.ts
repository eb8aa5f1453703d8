/* Local state of a node of a fleet: its identity, its sockets, and the file of a replica's database. */
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type RandomBytes, sha256Hex } from "../base/hash";
import type { DataDirectory } from "../db/data-directory";
import { syncFile } from "../db/database-files";
import { OperatorError } from "../db/errors";
import { isPreparedFollowed } from "../db/followed-database";

/** Identity of a data directory within a fleet. */
export interface FleetNode {
  id: string;
  /** Last term in which this data directory was, or was about to become, the primary's; undefined if never. */
  term: number | undefined;
}

/** Returns the folder of a fleet's local state: next to the database. */
export function fleetFolder({ database }: DataDirectory): string {
  return join(dirname(database), "fleet");
}

/** Returns the folder of a replica's copy. */
export function replicaFolder(directory: DataDirectory): string {
  return join(fleetFolder(directory), "replica");
}

/** Reads the identity of a data directory, or creates it. */
export function readNode(directory: DataDirectory, random: RandomBytes): FleetNode {
  const folder = fleetFolder(directory);
  mkdirSync(folder, { recursive: true, mode: 0o750 });
  try {
    const { id, term } = JSON.parse(readFileSync(nodeFile(directory), "utf8")) as FleetNode;
    return { id, term };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  const node = { id: `node_${Buffer.from(random(8)).toString("hex")}`, term: undefined };
  writeNode(directory, node);
  return node;
}

/** Stores the identity of a data directory durably. */
export function writeNode(directory: DataDirectory, node: FleetNode): void {
  const file = nodeFile(directory);
  writeFileSync(`${file}.new`, JSON.stringify(node));
  syncFile(`${file}.new`);
  renameSync(`${file}.new`, file);
  syncFile(dirname(file));
}

function nodeFile(directory: DataDirectory): string {
  return join(fleetFolder(directory), "node.json");
}

/** Returns the name of a node, which people recognise and which is unique. */
export function nodeName({ id }: Pick<FleetNode, "id">): string {
  return `${hostname().slice(0, 63)}/${id}`;
}

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

/** Names that the followed database has in turn: the next one is restored while the present one is read. */
const REPLICA_NAMES = ["replica.db", "replica.db.2"] as const;

/** The followed database of a replica. */
export interface ReplicaFile {
  path: string;
  /** Prefix in the store whose log it follows. */
  prefix: string;
}

/** Returns the database of an earlier run; undefined without one that can be read. */
export function findReplicaFile(folder: string): ReplicaFile | undefined {
  let noted: { name?: unknown; prefix?: unknown };
  try {
    noted = JSON.parse(readFileSync(noteIn(folder), "utf8")) as typeof noted;
  } catch {
    return undefined;
  }
  const name = REPLICA_NAMES.find((known) => known === noted.name);
  if (name === undefined || typeof noted.prefix !== "string") return undefined;
  const path = join(folder, name);
  return isPreparedFollowed(path) ? { path, prefix: noted.prefix } : undefined;
}

/** Returns all paths that a followed database can have. */
export function replicaPaths(folder: string): string[] {
  return REPLICA_NAMES.map((name) => join(folder, name));
}

/** Returns the path for the next database. */
export function nextReplicaPath(folder: string, current: ReplicaFile | undefined): string {
  const [first, second] = REPLICA_NAMES;
  return join(folder, current?.path === join(folder, first) ? second : first);
}

/** Notes the database that is read from now on, also after a crash. */
export function noteReplicaFile(folder: string, { path, prefix }: ReplicaFile): void {
  const note = { name: path.slice(folder.length + 1), prefix };
  const temporary = `${noteIn(folder)}.tmp`;
  writeFileSync(temporary, `${JSON.stringify(note)}\n`);
  const file = openSync(temporary, "r+");
  fsyncSync(file);
  closeSync(file);
  renameSync(temporary, noteIn(folder));
}

function noteIn(folder: string): string {
  return join(folder, "replica.json");
}
