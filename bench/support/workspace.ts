import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Executable and temporary files of a row. */
export interface Workspace {
  /** The compiled Allclear. */
  allclear: string;
  /** A folder of this run's own, gone at its end. */
  folder: string;
  /** Returns a unique path for a new file or folder with this name. */
  path(name: string): string;
}

const REPOSITORY = join(import.meta.dir, "../..");

/** Runs some work in a workshop on a disk that commits must reach, and clears it away. */
export async function withWorkspace<T>(work: (workspace: Workspace) => Promise<T>): Promise<T> {
  const allclear = join(REPOSITORY, "dist/allclear");
  if (!(await Bun.file(allclear).exists())) {
    throw new Error("dist/allclear is not there: run `bun run build` first");
  }
  const folder = mkdtempSync("/var/tmp/allclear-bench-");
  let count = 0;
  try {
    requireRealDisk(folder);
    return await work({
      allclear,
      folder,
      path: (name) => join(folder, `${(count += 1)}-${name}`),
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A commit to memory costs nothing and would flatter every figure that rests on one. */
function requireRealDisk(folder: string): void {
  const answer = Bun.spawnSync(["df", "--output=fstype", folder]).stdout.toString();
  const type = answer.trim().split("\n").at(-1)?.trim() ?? "";
  if (type === "" || type === "tmpfs" || type === "ramfs") {
    throw new Error(`${folder} is on ${type || "an unknown file system"}; the bench needs a disk`);
  }
}

/** Stops with the way to get a tool that is missing. */
export function requireTool(name: string, debianPackage: string): void {
  if (Bun.which(name) === null) {
    throw new Error(`${name} is missing: apt-get install ${debianPackage}`);
  }
}
