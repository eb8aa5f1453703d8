import { mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

/** Executable and temporary files of a row. */
export interface Workspace {
  /** Path of the compiled Allclear. */
  allclear: string;
  /**
   * True if the row is measured in turns for two executables. Measurements of anything else, such as
   * a bare server, are then superfluous.
   */
  isCompared: boolean;
  /** A folder of this run's own, gone at its end. */
  folder: string;
  /** Returns a unique path for a new file or folder with this name. */
  path(name: string): string;
}

const REPOSITORY = join(import.meta.dir, "../..");

/**
 * Runs some work in a temporary workspace on a real disk. `compared` is the executable to measure in
 * a comparison; otherwise the one in `dist` is measured.
 */
export async function withWorkspace<T>(
  work: (workspace: Workspace) => Promise<T>,
  compared?: string,
): Promise<T> {
  const allclear = compared === undefined ? join(REPOSITORY, "dist/allclear") : resolve(compared);
  if (!(await Bun.file(allclear).exists())) {
    throw new Error(`${allclear} is missing: run \`bun run build\` first`);
  }
  const folder = mkdtempSync("/var/tmp/allclear-bench-");
  let count = 0;
  try {
    requireRealDisk(folder);
    return await work({
      allclear,
      isCompared: compared !== undefined,
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
