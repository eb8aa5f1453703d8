import { chmodSync, rmSync } from "node:fs";
import { OperatorError } from "../../db/errors";
import { socketPath } from "../socket-path";

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
