import { chmodSync, rmSync } from "node:fs";
import { OperatorError } from "../db";
import { socketPath } from "./socket-path";

/** Commands that a running node of this machine takes. */
export type ControlCommand = "promote" | "promote --force" | "demote";

/** Result of a command: a sentence about what was done, or about why it was refused. */
export interface ControlAnswer {
  isDone: boolean;
  text: string;
}

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
      return Response.json(await run((await request.text()) as ControlCommand));
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
