import { statSync } from "node:fs";

/** Files that an open database consists of. The write-ahead log exists as long as it is open. */
const SUFFIXES = ["", "-wal"];

/**
 * Remembers which files a path leads to now. The answer tells whether it leads to others or to none
 * since then, as it does after the data directory was moved, deleted or replaced. What is written then
 * reaches files that no later start finds.
 */
export function watchIdentity(path: string): () => boolean {
  const known = SUFFIXES.flatMap((suffix) => {
    const file = path + suffix;
    const identity = identityOf(file);
    return identity === undefined ? [] : [{ file, identity }];
  });
  return () => known.some(({ file, identity }) => isAnother(file, identity));
}

function isAnother(file: string, identity: string): boolean {
  try {
    return identityOf(file) !== identity;
  } catch {
    // A failing disk is for the write itself to report.
    return false;
  }
}

function identityOf(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}
