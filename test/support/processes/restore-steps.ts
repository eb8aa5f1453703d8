/**
 * Restores a backup and kills itself before one of its changes to the file system:
 * `bun restore-steps.ts DIRECTORY BACKUP NUMBER`. Prints "restored" if there are fewer changes.
 */
import { createRequire } from "node:module";

const fs = createRequire(import.meta.url)("node:fs") as Record<
  string,
  (...args: unknown[]) => unknown
>;
const [, , path = "", backup = "", number = ""] = process.argv;
let left = Number.POSITIVE_INFINITY;
for (const name of ["openSync", "writeSync", "linkSync", "renameSync", "rmSync", "chmodSync"]) {
  const change = fs[name];
  fs[name] = (...args) => {
    left -= 1;
    while (left === 0) process.kill(process.pid, "SIGKILL");
    return change?.(...args);
  };
}
// After the functions were replaced: an import copies them.
const { lockOrExplain, openDataDirectory } = await import("../../../src/db/data-directory");
const { restoreDatabase } = await import("../../../src/db/restore");
const directory = openDataDirectory(path);
const lock = lockOrExplain(directory, "restore");
left = Number(number);
restoreDatabase(directory, backup);
left = Number.POSITIVE_INFINITY;
lock.release();
console.log("restored");
