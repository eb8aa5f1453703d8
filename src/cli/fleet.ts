import { existsSync } from "node:fs";
import { type Clock, systemClock } from "../base/clock";
import { FLEET_STORE_OPTION_NAMES } from "../base/config/fleet";
import { optionNames } from "../base/config/options";
import { plural } from "../base/text";
import { SECOND_MS, toIso } from "../base/time";
import { openDataDirectory } from "../db/data-directory";
import { OperatorError } from "../db/errors";
import { listOrphans } from "../db/orphans";
import type { FleetNode } from "../features/alarms/fleet";
import {
  commandNode,
  type ControlCommand,
  fetchFleetStatus,
  type FleetStatus,
  withDownloadedDatabase,
} from "../fleet/commands";
import { type LeaderRecord, readLeader } from "../fleet/leader";
import { fleetFolder } from "../fleet/node";
import { fleetToken, openFleetStore } from "../fleet/store";
import {
  type Command,
  type ExitCode,
  type Invocation,
  JSON_FLAG,
  type Output,
  UsageError,
} from "./command";
import { printJson, printTable } from "./print";

export const fleetCommands: readonly Command[] = [
  {
    name: "fleet status",
    summary: "Show the primary and the replicas of the fleet, with their lag.",
    flags: [JSON_FLAG],
    options: [...optionNames("fleet"), ...FLEET_STORE_OPTION_NAMES, "fleetSecret"],
    run: runStatus,
  },
  {
    name: "fleet orphans",
    summary: "List the events of a database that was set aside, FILE, which the history lacks.",
    positionals: ["FILE"],
    flags: [JSON_FLAG],
    options: [...optionNames("fleet"), ...FLEET_STORE_OPTION_NAMES],
    run: runOrphans,
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

/** Prints the state of the fleet. Returns 1 if its primary does not answer. */
async function runStatus({ config, isSet, output }: Invocation): Promise<ExitCode> {
  requireStore(config);
  const clock = systemClock();
  const store = openFleetStore(config, clock).leader;
  const leader = await readLeader(store);
  if (!leader) throw new OperatorError(`There is no fleet in ${store.name}.`);
  const { record } = leader;
  const status = await askPrimary(clock, record, config.fleetSecret ?? "");
  const exitCode = typeof status === "string" ? 1 : 0;
  if (isSet("json")) {
    printJson(output, present(store.name, record, status));
    return exitCode;
  }
  const { term, node, address, version } = record;
  output.out(`Store    ${store.name}`);
  output.out(`Primary  ${node} at ${address ?? "no address"}, term ${term}, version ${version}`);
  if (typeof status === "string") {
    output.err(status);
    return exitCode;
  }
  printTable(
    output,
    ["NODE", "ROLE", "LAG", "TRANSACTION", "VERSION", "LAST SEEN"],
    status.nodes.map((one) => rowOf(one, clock.now())),
  );
  for (const { name, detail, since } of status.alarms) {
    output.err(`Alarm: ${name}. ${detail} Since ${toIso(since)}.`);
  }
  return exitCode;
}

/** Returns the state, or the reason as a sentence why there is none. */
async function askPrimary(
  clock: Clock,
  { address }: LeaderRecord,
  secret: string,
): Promise<FleetStatus | string> {
  if (address === null) return "The primary has no --fleet-address, so it cannot be asked.";
  try {
    return await fetchFleetStatus(clock, address, fleetToken(secret));
  } catch (error) {
    return `The primary at ${address} cannot be asked: ${(error as Error).message}.`;
  }
}

function rowOf(node: FleetNode, now: number): string[] {
  const { name, role, isEligible, isSelf, version, txid = "", lagSeconds, seenAt } = node;
  const ago = Math.max(0, Math.round((now - seenAt) / SECOND_MS));
  return [
    name,
    role === "replica" && isEligible ? "eligible replica" : role,
    role === "primary" || lagSeconds === undefined ? "" : `${lagSeconds.toFixed(1)} s`,
    txid,
    version,
    isSelf ? "now" : `${plural(ago, "second")} ago`,
  ];
}

function present(store: string, record: LeaderRecord, status: FleetStatus | string): object {
  const { term, node, address, version, schema, prefix } = record;
  const known = typeof status === "string" ? undefined : status;
  return {
    store,
    primary: { node, address, term, prefix, version, schema },
    problem: typeof status === "string" ? status : null,
    nodes: (known?.nodes ?? []).map((one) => ({
      name: one.name,
      role: one.role,
      eligible: one.isEligible,
      version: one.version,
      txid: one.txid ?? null,
      lag_seconds: one.lagSeconds ?? null,
      last_seen: toIso(one.seenAt),
    })),
    alarms: (known?.alarms ?? []).map(({ kind, name, detail, since }) => ({
      kind,
      name,
      detail,
      since: toIso(since),
    })),
  };
}

/** Prints the events of a database that was set aside which the fleet's newest state lacks. */
async function runOrphans({ config, positionals, isSet, output }: Invocation): Promise<ExitCode> {
  requireStore(config);
  const [file = ""] = positionals;
  if (!existsSync(file)) throw new OperatorError(`There is no file ${file}.`);
  const directory = openDataDirectory(config.dataDir);
  const orphans = await withDownloadedDatabase(config, directory, undefined, (present) =>
    listOrphans(file, present),
  );
  if (isSet("json")) {
    printJson(
      output,
      orphans.map(({ at, ...orphan }) => ({ ...orphan, at: toIso(at) })),
    );
    return 0;
  }
  printTable(
    output,
    ["TIME", "EVENT", "SUBJECT", "NAME"],
    orphans.map(({ at, type, subject, name }) => [toIso(at), type, subject, name ?? ""]),
  );
  output.err(
    `${plural(orphans.length, "event")} of ${file} ${orphans.length === 1 ? "is" : "are"} not in the present history.`,
  );
  return 0;
}

function requireStore({ fleetStore }: Invocation["config"]): void {
  if (!fleetStore) throw new UsageError(["--fleet-store is missing."]);
}

/** Sends a command to the node that runs in a data directory. */
async function send(dataDir: string, command: ControlCommand, output: Output): Promise<ExitCode> {
  const { isDone, text } = await commandNode(fleetFolder(openDataDirectory(dataDir)), command);
  output.err(text);
  return isDone ? 0 : 1;
}
