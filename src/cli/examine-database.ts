import { EXAMINE_COMMAND } from "../fleet/commands/examine-command";
import type { Command } from "./command";

/** Examines a restored database for its server, which would stand still meanwhile. */
export const examineDatabaseCommand: Command = {
  name: EXAMINE_COMMAND,
  summary: "Print the damage of the database FILE and the rows of its tables.",
  isInternal: true,
  positionals: ["FILE"],
  options: [],
  run: async (invocation) => (await import("./examine-database-run")).runExamine(invocation),
};
