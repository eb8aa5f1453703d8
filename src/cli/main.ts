import type { Command } from "./command";
import { processInput } from "./input";
import { processOutput } from "./output";
import { isHelp, runCommandLine } from "./run";

/** Runs the command that this process was started with, and returns its exit code. */
export async function main(): Promise<number> {
  const args = process.argv.slice(2);
  const commands = await loadCommands(args);
  return runCommandLine(commands, args, process.env, processOutput(), processInput());
}

/**
 * Loads the commands that arguments may name. The server starts and is checked for its health without the
 * code of the other commands.
 */
async function loadCommands([first]: readonly string[]): Promise<readonly Command[]> {
  const isServer =
    first === undefined || first === "serve" || (first.startsWith("-") && !isHelp(first));
  if (isServer) return [(await import("./serve")).serveCommand];
  if (first === "healthcheck") return [(await import("./healthcheck")).healthcheckCommand];
  const { COMMANDS, INTERNAL_COMMANDS } = await import("./commands");
  return [...COMMANDS, ...INTERNAL_COMMANDS];
}
