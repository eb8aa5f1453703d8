import { optionNames } from "../config";
import { restoreDatabase } from "../db/restore";
import { lockOrExplain, openDataDirectory } from "../db/data-directory";
import { openForCommand } from "../installation";
import type { Command } from "./command";

export const backupCommand: Command = {
  name: "backup",
  summary: "Write a consistent copy of the database to FILE, also while the server runs.",
  positionals: ["FILE"],
  options: optionNames("backup"),
  async run({ config, positionals, output }) {
    const [file = ""] = positionals;
    const installation = openForCommand(config, "backup", { mayCreate: false });
    try {
      installation.ctx.db.copyTo(file);
    } finally {
      installation.close();
    }
    output.err(`Wrote ${file}.`);
    return 0;
  },
};

export const restoreCommand: Command = {
  name: "restore",
  summary:
    "Put a backup in the place of the database, whose file is kept. Not while a server runs.",
  positionals: ["FILE"],
  options: optionNames("restore"),
  async run({ config, positionals, output }) {
    const [file = ""] = positionals;
    const directory = openDataDirectory(config.dataDir);
    const lock = lockOrExplain(directory, "restore");
    try {
      const kept = restoreDatabase(directory, file);
      output.err(`Restored ${file}. Everybody signs in again, and links that were open are void.`);
      if (kept) output.err(`The database from before is kept in ${kept}.`);
    } finally {
      lock.release();
    }
    return 0;
  },
};
