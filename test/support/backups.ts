import { join } from "node:path";
import type { Ctx } from "../../src/context";
import { type Backups, createBackups } from "../../src/features/backups/backups";
import { temporaryFolder } from "./temporary-folder";

/** Creates backups that this process copies, since no other process can read a database in memory. */
export function createTestBackups(ctx: Ctx): Disposable & { backups: Backups } {
  let folder: ReturnType<typeof temporaryFolder> | undefined;
  const backups = createBackups(ctx, {
    folder: () => join((folder ??= temporaryFolder()).path, "backups"),
    copy: async (_, file) => ctx.db.copyTo(file) as undefined,
  });
  return { backups, [Symbol.dispose]: () => folder?.[Symbol.dispose]() };
}
