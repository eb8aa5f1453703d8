import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isPreparedFollowed } from "../../db/followed-database";

/** Names that the followed database has in turn: the next one is restored while the present one is read. */
const NAMES = ["replica.db", "replica.db.2"] as const;

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
  const name = NAMES.find((known) => known === noted.name);
  if (name === undefined || typeof noted.prefix !== "string") return undefined;
  const path = join(folder, name);
  return isPreparedFollowed(path) ? { path, prefix: noted.prefix } : undefined;
}

/** Returns all paths that a followed database can have. */
export function replicaPaths(folder: string): string[] {
  return NAMES.map((name) => join(folder, name));
}

/** Returns the path for the next database. */
export function nextReplicaPath(folder: string, current: ReplicaFile | undefined): string {
  const [first, second] = NAMES;
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
