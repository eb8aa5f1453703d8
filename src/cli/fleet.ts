import { FLEET_STORE_OPTION_NAMES } from "../base/config/fleet";
import { optionNames } from "../base/config/options";
import { type Command, JSON_FLAG } from "./command";

// The code is loaded on demand, since other commands do not need it.
export const fleetCommands: readonly Command[] = [
  {
    name: "fleet status",
    summary: "Show the primary and the replicas of the fleet, with their lag.",
    flags: [JSON_FLAG],
    options: [...optionNames("fleet"), ...FLEET_STORE_OPTION_NAMES, "fleetSecret"],
    run: async (invocation) => (await import("./fleet-run")).runStatus(invocation),
  },
  {
    name: "fleet orphans",
    summary: "List the events of a database that was set aside, FILE, which the history lacks.",
    positionals: ["FILE"],
    flags: [JSON_FLAG],
    options: [...optionNames("fleet"), ...FLEET_STORE_OPTION_NAMES],
    run: async (invocation) => (await import("./fleet-run")).runOrphans(invocation),
  },
];
