import { optionNames } from "../config";
import type { Command } from "./command";

export const restoreCommand: Command = {
  name: "restore",
  summary:
    "Replace the database with a backup and keep the replaced file. The server must be stopped.",
  positionals: ["FILE"],
  options: optionNames("restore"),
  // Loaded on demand, since servers start with all commands.
  run: async (invocation) => (await import("./restore-run")).runRestore(invocation),
};
