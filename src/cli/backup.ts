import { statSync } from "node:fs";
import { optionNames } from "../base/config/options";
import type { Ctx } from "../context";
import { CLI_ACTOR } from "../base/actor";
import { recordBackup } from "../features/backups/last-backup";
import { openForCommand } from "../installation";
import type { Command, Output } from "./command";

export const backupCommand: Command = {
  name: "backup",
  summary: "Write a consistent copy of the database to FILE, also while the server runs.",
  positionals: ["FILE"],
  options: optionNames("backup"),
  async run({ config, positionals, output }) {
    const [file = ""] = positionals;
    const installation = openForCommand(config, "backup", { canCreate: false });
    try {
      installation.ctx.db.copyTo(file);
      await record(installation.ctx, file, output);
    } finally {
      installation.close();
    }
    output.err(`Wrote ${file}.`);
    return 0;
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
