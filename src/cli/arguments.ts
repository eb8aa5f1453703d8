import { type Config, type OptionName, OPTIONS } from "../base/config/options";
import { type GivenFlags, loadConfig } from "../base/config/load";
import { type Command, type Input, type Invocation, type Output, UsageError } from "./command";

interface Parsed {
  positionals: string[];
  flags: Map<string, (string | true)[]>;
}

/**
 * Parses the arguments of a command. Throws a UsageError with all problems: unknown flags, missing
 * arguments, and invalid settings from flags and environment variables.
 */
export function readInvocation(
  command: Command,
  args: readonly string[],
  env: Record<string, string | undefined>,
  output: Output,
  input: Input,
): Invocation {
  const problems: string[] = [];
  const { positionals, flags } = tokenize(command, args, problems);

  const { insteadOfPositionals: instead } = command;
  const isReplaced = instead !== undefined && flags.has(instead);
  const expected = isReplaced ? [] : (command.positionals ?? []);
  for (const name of expected.slice(positionals.length)) problems.push(`${name} is missing.`);
  for (const extra of positionals.slice(expected.length)) problems.push(`Unexpected: ${extra}`);
  for (const flag of command.flags ?? []) {
    if (flag.isRequired && !flags.has(flag.name)) problems.push(`--${flag.name} is missing.`);
  }

  const configFlags: GivenFlags = {};
  for (const name of command.options) {
    const { flag } = OPTIONS[name];
    const value = flag === undefined ? undefined : flags.get(flag)?.at(-1);
    if (typeof value === "string") configFlags[name] = value;
  }
  const loaded = loadConfig(configFlags, env);
  if ("problems" in loaded) problems.push(...loaded.problems);
  if (problems.length > 0) throw new UsageError(problems);

  const values = (flag: string) =>
    (flags.get(flag) ?? []).filter((value): value is string => typeof value === "string");
  return {
    config: (loaded as { config: Config }).config,
    positionals,
    values,
    value: (flag) => values(flag).at(-1),
    isSet: (flag) => flags.has(flag),
    env,
    input,
    output,
  };
}

/** An argument such as `--name` or `--name=value`. */
const OPTION = /^--([^=]+)(?:=(.*))?$/s;

/** Returns the variable of a setting that has no flag, by the name that its flag would have. */
function secretVariable(flag: string): string | undefined {
  const variable = `ALLCLEAR_${flag.toUpperCase().replaceAll("-", "_")}`;
  const isSecret = Object.values(OPTIONS).some(
    (option) => option.flag === undefined && option.env === variable,
  );
  return isSecret ? variable : undefined;
}

/** Divides arguments by the declaration of a command. `node:util`'s parser takes 2 ms of each start. */
function tokenize(command: Command, args: readonly string[], problems: string[]): Parsed {
  const declared = new Map<string, { takesValue: boolean; isRepeatable: boolean }>();
  for (const name of command.options) {
    const { flag } = OPTIONS[name as OptionName];
    if (flag !== undefined) declared.set(flag, { takesValue: true, isRepeatable: false });
  }
  for (const { name, placeholder, isRepeatable = false } of command.flags ?? []) {
    declared.set(name, { takesValue: placeholder !== undefined, isRepeatable });
  }

  const positionals: string[] = [];
  const flags = new Map<string, (string | true)[]>();
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === "--") {
      positionals.push(...rest);
      break;
    }
    if (arg === "-" || !arg.startsWith("-")) {
      positionals.push(arg);
      continue;
    }
    const [, name = "", inline] = OPTION.exec(arg) ?? [];
    const option = declared.get(name);
    if (!option) {
      const shown = name === "" ? arg : `--${name}`;
      const variable = secretVariable(name);
      if (variable === undefined) {
        problems.push(`${shown} is not an option of allclear ${command.name}.`);
        continue;
      }
      problems.push(
        `${shown} is not an option, since other processes can read arguments. Set ${variable}.`,
      );
      // The value is a secret, which no error may repeat.
      if (inline === undefined && !rest[0]?.startsWith("--")) rest.shift();
      continue;
    }
    const value = inline ?? (option.takesValue ? rest.shift() : undefined);
    if (option.takesValue && value === undefined) {
      problems.push(`--${name} needs a value.`);
      continue;
    }
    if (option.takesValue && inline === undefined && value?.startsWith("--")) {
      // Probably a forgotten value; otherwise a key could be created with the name "--json".
      const joined = `--${name}=${value}`;
      problems.push(`--${name} needs a value; if ${value} is meant, write ${joined}.`);
      continue;
    }
    if (!option.takesValue && value !== undefined) {
      problems.push(`--${name} takes no value.`);
      continue;
    }
    const before = flags.get(name) ?? [];
    if (before.length > 0 && !option.isRepeatable) {
      problems.push(`--${name} is given more than once.`);
    }
    flags.set(name, [...before, value ?? true]);
  }
  return { positionals, flags };
}
