import { runCommandLine } from "../../src/cli/main";
import { openForCommand } from "../../src/installation";
import { testConfig } from "./app";

/** A command that was run in this process. */
interface CommandOutcome {
  exitCode: number;
  /** Lines of standard output. */
  out: string[];
  /** Lines of standard error. */
  err: string[];
}

/** Runs a command on a data directory with only the given variables and lines that a person types, if any. */
export type CommandLine = (
  args: string[],
  env?: Record<string, string>,
  input?: string[],
) => Promise<CommandOutcome>;

export function commandLine(dataDir: string): CommandLine {
  return async (args, env = {}, input = []) => {
    const out: string[] = [];
    const err: string[] = [];
    const given = { ALLCLEAR_DATA_DIR: dataDir, ALLCLEAR_LOG_LEVEL: "silent", ...env };
    const output = {
      out: (line: string) => void out.push(line),
      err: (line: string) => void err.push(line),
    };
    const line = async () => input[0] ?? "";
    const isTerminal = input.length > 0;
    const bytes = async (max: number) => Buffer.from(input.join("\n")).subarray(0, max);
    const exitCode = await runCommandLine(args, given, output, { isTerminal, line, bytes });
    return { exitCode, out, err };
  };
}

/** Returns a command line on a data directory that already has a database. */
export function installedCommandLine(dataDir: string): CommandLine {
  const config = testConfig({ ALLCLEAR_DATA_DIR: dataDir, ALLCLEAR_LOG_LEVEL: "silent" });
  openForCommand(config, "test", { canCreate: true }).close();
  return commandLine(dataDir);
}

/** Parses standard output as one JSON document. Throws if the command failed. */
export function jsonOf<T>(outcome: CommandOutcome): T {
  if (outcome.exitCode !== 0) throw new Error(outcome.err.join("\n"));
  return JSON.parse(outcome.out.join("\n")) as T;
}
