import type { Config, OptionName } from "../base/config/options";
import type { Option } from "../base/config/parse";

/** A flag of one command, in addition to the shared options. */
export interface Flag {
  name: string;
  /** Placeholder of its value in the help; undefined for a switch. */
  placeholder?: string;
  /** All values that it takes. */
  choices?: readonly string[];
  isRequired?: boolean;
  /** True if it may be given more than once. */
  isRepeatable?: boolean;
  help: string;
}

/** A flag of some commands that is also a variable, or a secret that is a variable only. Servers do not have it. */
export type Setting<T> = Omit<Option<T>, "scope">;

/** Output of a command, by lines: data to `out`, everything else to `err`. */
export interface Output {
  out(line: string): void;
  err(line: string): void;
  /** True if a person reads `out` on a terminal. */
  readonly isTerminal?: boolean;
  /** True once the reader of `out` has closed it. */
  readonly isClosed?: boolean;
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
  /** The words after `--` of a command that takes them. */
  words: string[];
  /** Returns the value of a setting of the command. */
  setting<T>(setting: Setting<T>): T | undefined;
  /** Returns the values of a flag, in order; empty if it was not given. */
  values(flag: string): string[];
  /** Returns the last value of a flag. */
  value(flag: string): string | undefined;
  isSet(flag: string): boolean;
  /** Environment variables. */
  env: Readonly<Record<string, string | undefined>>;
  input: Input;
  output: Output;
  /** Loads all commands that the help lists. */
  listCommands(): Promise<readonly Command[]>;
}

/**
 * 0: success. 1: failure. 2: wrong usage. 75: a failure after which a mail server tries again (`EX_TEMPFAIL`). Commands
 * to a server also have those of `EXIT`, and `maintenance run` that of the program that it runs.
 */
export type ExitCode = number;

export interface Command {
  /** As typed, such as `key create`. */
  name: string;
  summary: string;
  /** True if only this program runs it. The help does not list it. */
  isInternal?: boolean;
  /** Names of its positional arguments, all of them required. */
  positionals?: readonly string[];
  /** Names of the positional arguments after these, which may be omitted. */
  optionalPositionals?: readonly string[];
  /** All values of positional arguments, by their names. */
  choices?: Readonly<Record<string, readonly string[]>>;
  /** Name of the words after `--`, at least one, such as a program with its arguments. */
  words?: string;
  /** Flags with which it takes no positional arguments. */
  insteadOfPositionals?: readonly string[];
  flags?: readonly Flag[];
  /** Exit code of every failure, also of wrong usage, for a command that other programs run. */
  failureCode?: ExitCode;
  /** Settings of its own. */
  settings?: readonly Setting<unknown>[];
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

/** Failure of a command, with a message for people and an exit code. */
export class Failure extends Error {
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode) {
    super(message);
    this.name = "Failure";
    this.exitCode = exitCode;
  }
}

export const JSON_FLAG: Flag = { name: "json", help: "Print JSON." };
