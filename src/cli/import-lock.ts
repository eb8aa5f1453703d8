import { OperatorError } from "../db/errors";
import { type DataDirectory, type DirectoryLock, tryImportLock } from "../db/data-directory";
import { IMPORT_RUNS } from "../imports/jobs";

/** Longest wait for another import, and pause between two attempts. */
const WAIT_MS = 5_000;
const POLL_MS = 50;

/** Runs an import while no other one runs. Throws an OperatorError if another does not end soon. */
export async function aloneIn<Result>(
  directory: DataDirectory,
  work: () => Promise<Result>,
): Promise<Result> {
  const lock = await lockImports(directory);
  try {
    return await work();
  } finally {
    lock.release();
  }
}

async function lockImports(directory: DataDirectory): Promise<DirectoryLock> {
  for (let waitedMs = 0; waitedMs < WAIT_MS; waitedMs += POLL_MS) {
    const lock = tryImportLock(directory);
    if (lock) return lock;
    await Bun.sleep(POLL_MS);
  }
  throw new OperatorError(IMPORT_RUNS);
}
