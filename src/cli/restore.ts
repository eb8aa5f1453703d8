import { FLEET_STORE_OPTION_NAMES } from "../base/config/fleet";
import { optionNames } from "../base/config/options";
import type { Command } from "./command";

export const restoreCommand: Command = {
  name: "restore",
  summary:
    "Replace the database with a backup and keep the replaced file. The server must be stopped.",
  positionals: ["FILE"],
  insteadOfPositionals: "from-store",
  flags: [
    { name: "from-store", help: "Restore from --fleet-store, without FILE." },
    {
      name: "at",
      placeholder: "TIME",
      help: "With --from-store: restore the state of a moment, such as 2026-03-10T12:00:00Z.",
    },
  ],
  options: [...optionNames("restore"), ...FLEET_STORE_OPTION_NAMES],
  // Loaded on demand, since servers start with all commands.
  run: async (invocation) => (await import("./restore-run")).runRestore(invocation),
};
