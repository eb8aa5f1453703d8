import { chmodSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Clock, systemClock } from "../base/clock";
import type { Config } from "../base/config/options";
import type { DataDirectory } from "../db/data-directory";
import { OperatorError } from "../db/errors";
import { withPrivateFolder } from "../db/private-folder";
import type { Alarm } from "../features/alarms/alarms";
import type { FleetState } from "../features/alarms/fleet";
import { requireLitestream } from "./log/replication";
import { type RestoredState, restoreFromStore } from "./log/restore";
import { bodyOf, describeRefusal, requestNode } from "./node-client";
import { socketPath } from "./node";
import { NODES_PATH, openFleetStore } from "./store";

/** Commands that a running node of this machine takes. */
const COMMANDS = ["promote", "promote --force", "demote"] as const;
export type ControlCommand = (typeof COMMANDS)[number];

/** Result of a command: a sentence about what was done, or about why it was refused. */
export interface ControlAnswer {
  isDone: boolean;
  text: string;
}

const UNKNOWN: ControlAnswer = { isDone: false, text: "This node does not know the command." };

/** Time in ms for the longest command: a promotion with a large database. */
const ANSWER_MAX_MS = 10 * 60_000;

/** Listens for commands on this machine. `run` never rejects. */
export function listenForCommands(
  folder: string,
  run: (command: ControlCommand) => Promise<ControlAnswer>,
): { stop(): Promise<void> } {
  const path = socketPath(folder, "control.sock");
  // A socket of a process that was killed. The lock of the data directory excludes another one.
  rmSync(path, { force: true });
  const server = Bun.serve({
    unix: path,
    async fetch(request, listener) {
      listener.timeout(request, 0);
      const text = await request.text();
      const command = COMMANDS.find((known) => known === text);
      return Response.json(command ? await run(command) : UNKNOWN);
    },
  });
  // Nobody else may promote this node, whatever the umask says.
  chmodSync(path, 0o600);
  return { stop: () => server.stop(true) };
}

/** Sends a command to the node that runs in this data directory. Throws an OperatorError if none does. */
export async function commandNode(folder: string, command: ControlCommand): Promise<ControlAnswer> {
  let response: Response;
  try {
    response = await fetch("http://node/", {
      unix: socketPath(folder, "control.sock"),
      method: "POST",
      body: command,
      signal: AbortSignal.timeout(ANSWER_MAX_MS),
    });
  } catch (error) {
    throw new OperatorError(
      "No node of a fleet runs in this data directory. Name it with --data-dir, and run this command as the same user.",
      error,
    );
  }
  return (await response.json()) as ControlAnswer;
}

/** Beginning of the names of folders with a restored database. */
const FOLDER = "from-fleet-store-";

/**
 * Restores the fleet's database, as it was at a moment in unix ms or is now, into a file next to the database, which
 * has room for it, and passes that to `work`. The file is removed afterwards.
 */
export async function withDownloadedDatabase<T>(
  config: Config,
  { database }: DataDirectory,
  at: number | undefined,
  work: (file: string, restored: RestoredState) => T,
): Promise<T> {
  await requireLitestream(config.litestream);
  const store = openFleetStore(config, systemClock());
  return withPrivateFolder(dirname(database), FOLDER, async (folder) => {
    const file = join(folder, "allclear.db");
    return work(file, await restoreFromStore(store, file, at));
  });
}

/** State of a fleet as its primary answers `GET /fleet/v1/nodes`. */
export interface FleetStatus extends FleetState {
  alarms: readonly Alarm[];
  /** Id of the primary's process; an earlier version does not send it. */
  run?: string;
}

const DEADLINE_MS = 3_000;

/** Asks the primary for the state of the fleet. Rejects if it does not answer with it in time. */
export async function fetchFleetStatus(
  clock: Clock,
  address: string,
  token: string,
): Promise<FleetStatus> {
  const answer = await requestNode(
    {
      address,
      method: "GET",
      pathAndQuery: NODES_PATH,
      headers: {},
      token,
      deadlineMs: DEADLINE_MS,
    },
    clock,
  );
  const body = await new Response(bodyOf(answer, clock, DEADLINE_MS)).text();
  if (answer.statusCode !== 200) {
    throw new Error(`it answered with ${describeRefusal(answer.statusCode)}`);
  }
  return JSON.parse(body) as FleetStatus;
}
