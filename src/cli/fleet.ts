import { FLEET_STORE_OPTION_NAMES } from "../base/config/fleet";
import { optionNames } from "../base/config/options";
import { openDataDirectory } from "../db/data-directory";
import { type Command, type ExitCode, JSON_FLAG, type Output } from "./command";

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

export const promoteCommand: Command = {
  name: "promote",
  summary: "Make the replica that runs in this data directory the primary of its fleet.",
  flags: [
    {
      name: "force",
      help: "Do not wait until the lease of the present primary has ended. Stop that one first.",
    },
  ],
  options: optionNames("promote"),
  run: ({ config, isSet, output }) =>
    send(config.dataDir, isSet("force") ? "promote --force" : "promote", output),
};

export const demoteCommand: Command = {
  name: "demote",
  summary:
    "Make the primary that runs in this data directory a replica, once everything is uploaded.",
  options: optionNames("demote"),
  run: ({ config, output }) => send(config.dataDir, "demote", output),
};

async function send(
  dataDir: string,
  command: "promote" | "promote --force" | "demote",
  output: Output,
): Promise<ExitCode> {
  const { commandNode } = await import("../fleet/commands");
  const { fleetFolder } = await import("../fleet/node");
  const { isDone, text } = await commandNode(fleetFolder(openDataDirectory(dataDir)), command);
  output.err(text);
  return isDone ? 0 : 1;
}
