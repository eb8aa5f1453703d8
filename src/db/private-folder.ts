import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/**
 * Runs `work` with a new folder in `parent` that only its owner can open, and removes the folder afterwards. Removes
 * those of commands that were killed, too. The number of the process and random characters follow `prefix`.
 */
export async function withPrivateFolder<T>(
  parent: string,
  prefix: string,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  for (const name of readdirSync(parent)) {
    const [pid] = name.startsWith(prefix) ? name.slice(prefix.length).split("-") : [];
    if (!/^\d+$/.test(pid ?? "") || isRunning(Number(pid))) continue;
    rmSync(join(parent, name), { recursive: true, force: true });
  }
  const folder = mkdtempSync(join(parent, `${prefix}${process.pid}-`));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It may be another user's.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
