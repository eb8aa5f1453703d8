import { COMMANDS, INTERNAL_COMMANDS } from "./commands";
import { processInput } from "./input";
import { processOutput } from "./output";
import { runCommandLine } from "./run";

/** Runs the command that this process was started with, and returns its exit code. */
export function main(): Promise<number> {
  const args = process.argv.slice(2);
  const commands = [...COMMANDS, ...INTERNAL_COMMANDS];
  return runCommandLine(commands, args, process.env, processOutput(), processInput());
}
