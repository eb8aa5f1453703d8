import { statSync } from "node:fs";
import { CLI_ACTOR } from "../base/actor";
import { optionNames } from "../base/config/options";
import type { Ctx } from "../context";
import { recordBackup } from "../features/backups/backups";
import type { Command, Output } from "./command";
import { withInstallation } from "./with-installation";

export const backupCommand: Command = {
  name: "backup",
  summary: "Write a consistent copy of the database to FILE, also while the server runs.",
  positionals: ["FILE"],
  options: optionNames("backup"),
  run(invocation) {
    const { positionals, output } = invocation;
    const [file = ""] = positionals;
    return withInstallation(backupCommand, invocation, { canCreate: false }, async ({ ctx }) => {
      ctx.db.copyTo(file);
      await record(ctx, file, output);
      output.err(`Wrote ${file}.`);
    });
  },
};

/** Records a backup for the dashboard. A failure, such as a full disk, is only reported: the file is valid. */
async function record(ctx: Ctx, file: string, output: Output): Promise<void> {
  try {
    const { size } = statSync(file);
    await ctx.db.write((tx) => recordBackup(ctx, tx, size, CLI_ACTOR));
  } catch (error) {
    output.err(`The backup could not be recorded for the dashboard: ${(error as Error).message}`);
  }
}
