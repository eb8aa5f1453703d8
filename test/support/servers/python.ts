/** Packages of Python from PyPI, in a folder outside of the repository that is kept between runs. */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { tryFileLock } from "../../../src/db/data-directory";
import { CACHE } from "../fleet/go";
import { findProgram, runCommand } from "./server-process";

/** Longest wait for the installation of another test, in ms. */
const INSTALLED_MAX_MS = 10 * 60_000;

function folderOf(packages: readonly string[]): string {
  return join(CACHE, `python-${Bun.hash(packages.join(" ")).toString(36)}`);
}

/** Returns the path of a Python that has the packages; undefined if no call has installed them. */
export function findPython(packages: readonly string[]): string | undefined {
  const folder = folderOf(packages);
  return existsSync(join(folder, ".complete")) ? join(folder, "bin", "python") : undefined;
}

/** Returns the path of a Python that has the packages, which the first call on a machine installs. Throws if it cannot. */
export async function getPython(packages: readonly string[]): Promise<string> {
  mkdirSync(CACHE, { recursive: true });
  const lock = tryFileLock(join(CACHE, ".python-lock"), INSTALLED_MAX_MS);
  if (!lock) throw new Error("another installation does not end");
  try {
    const known = findPython(packages);
    if (known !== undefined) return known;
    const installed = findProgram("python3");
    if (installed === undefined) throw new Error("The program python3 is not installed.");
    const folder = folderOf(packages);
    const python = join(folder, "bin", "python");
    rmSync(folder, { recursive: true, force: true });
    await runCommand([installed, "-m", "venv", folder]);
    // Wheels only, so that no package needs a compiler. The timeout is that of one answer of the index, in s.
    const options = ["--quiet", "--only-binary=:all:", "--retries=8", "--timeout=30"];
    await runCommand([python, "-m", "pip", "install", ...options, ...packages]);
    await Bun.write(join(folder, ".complete"), "");
    return python;
  } finally {
    lock.close(true);
  }
}
