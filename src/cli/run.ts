import { OperatorError } from "../db/errors";
import { Problem } from "../base/errors";
import { VERSION } from "../version";
import { readInvocation } from "./arguments";
import type { Command, ExitCode, Input, Output } from "./command";
import { UsageError } from "./command";
import { commandHelp, groupHelp, programHelp } from "./help";

const NO_INPUT: Input = {
  isTerminal: false,
  line: async () => "",
  bytes: async () => new Uint8Array(),
};

/** Runs one command line and returns its exit code. Prints errors instead of throwing them. */
export async function runCommandLine(
  commands: readonly Command[],
  args: readonly string[],
  env: Record<string, string | undefined>,
  output: Output,
  input: Input = NO_INPUT,
): Promise<ExitCode> {
  if (args[0] === "--version") {
    output.out(VERSION);
    return 0;
  }
  if (isHelp(args[0]) || args[0] === "help") {
    output.out(programHelp(commands, VERSION));
    return 0;
  }
  const match = findCommand(commands, args);
  if (!match) {
    const near = commands.filter((command) => command.name.startsWith(`${args[0]} `));
    if (near.length > 0 && args.some(isHelp)) {
      output.out(groupHelp(near));
      return 0;
    }
    output.err(
      near.length > 0
        ? `allclear ${args[0]} needs one of: ${near.map((c) => c.name.split(" ")[1]).join(", ")}.`
        : `allclear has no command ${args[0]}.`,
    );
    output.err("allclear --help lists the commands.");
    return 2;
  }
  const { command, rest } = match;
  if (rest.some(isHelp)) {
    output.out(commandHelp(command));
    return 0;
  }
  try {
    return await command.run(readInvocation(command, rest, env, output, input));
  } catch (error) {
    const code = explain(error, command, output);
    return command.failureCode ?? code;
  }
}

export function isHelp(word: string | undefined): boolean {
  return word === "--help" || word === "-h";
}

/** Finds the command by the first words; `serve` if there are none, or only flags. */
function findCommand(
  commands: readonly Command[],
  args: readonly string[],
): { command: Command; rest: string[] } | undefined {
  for (const words of [2, 1]) {
    const name = args.slice(0, words).join(" ");
    const command = commands.find((candidate) => candidate.name === name);
    if (command) return { command, rest: args.slice(words) };
  }
  const serve = commands.find((candidate) => candidate.name === "serve");
  const isBare = args.length === 0 || args[0]?.startsWith("-");
  return isBare && serve ? { command: serve, rest: [...args] } : undefined;
}

function explain(error: unknown, command: Command, output: Output): ExitCode {
  if (error instanceof UsageError) {
    for (const problem of error.problems) output.err(problem);
    output.err(`allclear ${command.name} --help lists its options.`);
    return 2;
  }
  if (error instanceof OperatorError) {
    output.err(error.message);
    return 1;
  }
  if (error instanceof Problem) {
    output.err(error.message);
    for (const field of error.fields) output.err(`  ${field.pointer} ${field.detail}`);
    return 1;
  }
  output.err(`allclear ${command.name} failed: ${error instanceof Error ? error.stack : error}`);
  return 1;
}
