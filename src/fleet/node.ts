import { hostname } from "node:os";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DataDirectory } from "../db/data-directory";
import { syncFile } from "../db/database-files";
import type { RandomBytes } from "../base/hash";

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
