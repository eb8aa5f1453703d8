/**
 * Restores a backup, or without one removes an unfinished restore. Before each change to the file system it
 * copies the data directory, as a kill would leave it: `bun restore-steps.ts DIRECTORY COPIES [BACKUP]`. The
 * names of the copies are numbered and end with the function of the change: "07 renameSync".
 */
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";

const fs = createRequire(import.meta.url)("node:fs") as Record<
  string,
  (...args: unknown[]) => unknown
>;
const [, , path = "", copies = "", backup] = process.argv;
let count = 0;
let isCopying = false;
const NAMES = "openSync writeSync linkSync renameSync rmSync chmodSync fsyncSync";
for (const name of NAMES.split(" ")) {
  const change = fs[name];
  fs[name] = (...args) => {
    if (isCopying) copyDirectory(name);
    return change?.(...args);
  };
}

function copyDirectory(change: string): void {
  count += 1;
  const copy = join(copies, `${String(count).padStart(2, "0")} ${change}`);
  // Keeps hard links.
  const { status } = spawnSync("cp", ["-a", path, copy]);
  if (status !== 0) throw new Error(`cp failed with ${status}`);
}

// After the functions were replaced: an import copies them.
const { lockOrExplain, openDataDirectory } = await import("../../../src/db/data-directory");
const { restoreDatabase } = await import("../../../src/db/restore");
const { removeUnfinishedRestore } = await import("../../../src/db/database-files");
const directory = openDataDirectory(path);
const lock = lockOrExplain(directory, "restore");
isCopying = true;
if (backup === undefined) removeUnfinishedRestore(directory);
else restoreDatabase(directory, backup);
isCopying = false;
lock.release();
console.log("done");
