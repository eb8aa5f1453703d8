import type { Config, OptionName } from "../base/config/options";

/** A flag of one command, in addition to the shared options. */
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
  /**
   * Shows a state below the lines, in the place of the one before; an empty one removes it. Absent if standard error is no
   * terminal.
   */
  show?(state: string): void;
}

/**
 * Input of a command for secrets, which must not be arguments, since every process can read those.
 */
export interface Input {
  /** True if a person types it. */
  isTerminal: boolean;
  /** Returns the first line, without its end; empty without input. */
  line(): Promise<string>;
  /** Reads everything, and returns at most the first `max` bytes. */
  bytes(max: number): Promise<Uint8Array>;
}

/** A valid call of a command. */
export interface Invocation {
  config: Config;
  positionals: string[];
  /** Returns the values of a flag, in order; empty if it was not given. */
  values(flag: string): string[];
  /** Returns the last value of a flag. */
  value(flag: string): string | undefined;
  isSet(flag: string): boolean;
  /** Environment variables. */
  env: Readonly<Record<string, string | undefined>>;
  input: Input;
  output: Output;
}

/** 0: success. 1: failure. 2: wrong usage. 75: a failure after which a mail server tries again (`EX_TEMPFAIL`). */
export type ExitCode = 0 | 1 | 2 | 75;

export interface Command {
  /** As typed, such as `key create`. */
  name: string;
  summary: string;
  /** True if only this program runs it. The help does not list it. */
  isInternal?: boolean;
  /** Names of its positional arguments, all of them required. */
  positionals?: readonly string[];
  /** Flag with which it takes no positional arguments. */
  insteadOfPositionals?: string;
  flags?: readonly Flag[];
  /** Exit code of every failure, also of wrong usage, for a command that other programs run. */
  failureCode?: ExitCode;
  /** Shared options of the command. */
  options: readonly OptionName[];
  run(invocation: Invocation): Promise<ExitCode>;
}

/** Error for wrong usage of a command, with all problems. */
export class UsageError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.name = "UsageError";
    this.problems = problems;
  }
}

export const JSON_FLAG: Flag = { name: "json", help: "Print JSON." };
