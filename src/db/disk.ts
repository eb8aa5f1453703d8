import { statfs } from "node:fs/promises";
import { dirname } from "node:path";

/** Space of a file system, in bytes. */
export interface DiskSpace {
  /** Space that this process can use. */
  freeBytes: number;
  totalBytes: number;
}

/** Reads the space of a database's file system. Undefined for a database in memory, or if it is unreadable. */
export async function readDiskSpace(database: string): Promise<DiskSpace | undefined> {
  if (database === ":memory:") return undefined;
  try {
    const { bavail, bfree, blocks, bsize } = await statfs(dirname(database));
    const free = process.getuid?.() === 0 ? bfree : bavail;
    return { freeBytes: free * bsize, totalBytes: blocks * bsize };
  } catch {
    return undefined;
  }
}
