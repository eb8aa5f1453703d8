import { optionNames } from "../config";
import { type Command, JSON_FLAG } from "./command";

export const applyCommand: Command = {
  name: "apply",
  summary: "Make pages, components and monitors what FILE says.",
  positionals: ["FILE"],
  flags: [
    { name: "dry-run", help: "Print what would change, and change nothing." },
    { name: "prune", help: "Remove what an earlier apply made and the file no longer holds." },
    JSON_FLAG,
  ],
  options: optionNames("apply"),
  // Loaded when it is called: a server need not hold a YAML reader in memory.
  run: async (invocation) => (await import("./apply-run")).runApply(invocation),
};
