import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./temporary-folder";

/** A file system of a few megabytes that a test can fill. */
interface TinyDisk extends Disposable {
  path: string;
  /** Leaves this many bytes free, rounded down to whole pages. */
  fill(leavingBytes?: number): void;
  /** Frees the space that `fill` took. */
  free(): void;
}

/** Mounts a tiny disk. Throws if this process cannot mount file systems. */
export function mountTinyDisk(size = "2m"): TinyDisk {
  const folder = temporaryFolder();
  const path = join(folder.path, "disk");
  mkdirSync(path);
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", path]);
  if (mounted.status !== 0) {
    folder[Symbol.dispose]();
    throw new Error(mounted.error?.message ?? mounted.stderr.toString().trim());
  }
  const filler = join(path, "filler");
  return {
    path,
    fill(leavingBytes = 0) {
      const { bavail, bsize } = statfsSync(path);
      const pages = bavail - Math.ceil(leavingBytes / bsize);
      const file = openSync(filler, "a");
      for (let page = 0; page < pages; page++) writeSync(file, Buffer.alloc(bsize, "x"));
      closeSync(file);
    },
    free: () => rmSync(filler, { force: true }),
    [Symbol.dispose]() {
      // Lazily, since a failed test may have left a file open.
      spawnSync("umount", ["--lazy", path]);
      folder[Symbol.dispose]();
    },
  };
}

/**
 * Returns true if tests can mount a tiny disk. Writes a warning if not, since the tests are then
 * skipped.
 */
export function hasTinyDisks(): boolean {
  try {
    mountTinyDisk()[Symbol.dispose]();
    return true;
  } catch (error) {
    console.warn(`SKIPPED: the tests of a full disk; no disk to fill: ${(error as Error).message}`);
    return false;
  }
}
