import { statSync } from "node:fs";

/**
 * Returns a function that returns true once one of the paths no longer leads to the file that it leads to
 * now, as after the data directory was moved, deleted or replaced. Paths without a file are left out.
 */
export function createMoveCheck(...paths: string[]): () => boolean {
  const known = paths.flatMap((path) => {
    const identity = identityOf(path);
    return identity === undefined ? [] : [{ path, identity }];
  });
  return () => known.some(({ path, identity }) => isAnother(path, identity));
}

function isAnother(path: string, identity: string): boolean {
  try {
    return identityOf(path) !== identity;
  } catch {
    // A failing disk is for the write itself to report.
    return false;
  }
}

function identityOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}
