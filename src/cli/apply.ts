import { optionNames } from "../config";
import { type Command, JSON_FLAG } from "./command";

export const applyCommand: Command = {
  name: "apply",
  summary: "Make pages, components, monitors and webhooks what FILE says.",
  positionals: ["FILE"],
  flags: [
    { name: "dry-run", help: "Print what would change, and change nothing." },
    { name: "prune", help: "Remove what an earlier apply made and the file no longer holds." },
    JSON_FLAG,
  ],
  // It judges, as the server does, whom webhooks may be delivered to.
  options: [...optionNames("apply"), "outboundAllow"],
  // Loaded when it is called: a server need not hold a YAML reader in memory.
  run: async (invocation) => (await import("./apply-run")).runApply(invocation),
};
