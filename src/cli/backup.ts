import { optionNames } from "../config";
import { openForCommand } from "../installation";
import type { Command } from "./command";

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
    } finally {
      installation.close();
    }
    output.err(`Wrote ${file}.`);
    return 0;
  },
};
