import type { Config, OptionName } from "../config";

/** A flag of one command's own, beside the options that many share. */
export interface Flag {
  name: string;
  /** Placeholder of its value in the help; undefined for a switch. */
  placeholder?: string;
  isRequired?: boolean;
  /** True if it may be given more than once. */
  isRepeatable?: boolean;
  help: string;
}

/** Output of a command, by lines: data to `out`, everything else to `err`. */
export interface Output {
  out(line: string): void;
  err(line: string): void;
}

/**
 * Input of a command for secrets, which must not be arguments, since every process can read those.
 */
export interface Input {
  /** The first line, without its end; empty where there is none. */
  line(): Promise<string>;
}

/** A command as it was called, read and judged by its declaration. */
export interface Invocation {
  config: Config;
  positionals: string[];
  /** The values of a flag, in their order; empty if it was not given. */
  values(flag: string): string[];
  value(flag: string): string | undefined;
  isSet(flag: string): boolean;
  /** The environment that it was called in. */
  env: Readonly<Record<string, string | undefined>>;
  input: Input;
  output: Output;
}

/** 0: done. 1: it failed. 2: it was called wrongly. */
export type ExitCode = 0 | 1 | 2;

export interface Command {
  /** As typed, such as `key create`. */
  name: string;
  summary: string;
  /** The names of its positional arguments, all of them needed. */
  positionals?: readonly string[];
  flags?: readonly Flag[];
  /** The shared options that it takes. */
  options: readonly OptionName[];
  run(invocation: Invocation): Promise<ExitCode>;
}

/** The command was called wrongly; its message says how. */
export class UsageError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.name = "UsageError";
    this.problems = problems;
  }
}

export const JSON_FLAG: Flag = { name: "json", help: "Print JSON." };
