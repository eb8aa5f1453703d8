import { parseArgs } from "node:util";
import { type Config, type GivenFlags, loadConfig, OPTIONS, type OptionName } from "../config";
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

  const expected = command.positionals ?? [];
  for (const name of expected.slice(positionals.length)) problems.push(`${name} is missing.`);
  for (const extra of positionals.slice(expected.length)) problems.push(`Unexpected: ${extra}`);
  for (const flag of command.flags ?? []) {
    if (flag.isRequired && !flags.has(flag.name)) problems.push(`--${flag.name} is missing.`);
  }

  const configFlags: GivenFlags = {};
  for (const name of command.options) {
    const value = flags.get(OPTIONS[name].flag)?.at(-1);
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

function tokenize(command: Command, args: readonly string[], problems: string[]): Parsed {
  const takesValue = new Map<string, { value: boolean; repeatable: boolean }>();
  for (const name of command.options) {
    takesValue.set(OPTIONS[name as OptionName].flag, { value: true, repeatable: false });
  }
  for (const flag of command.flags ?? []) {
    const value = flag.placeholder !== undefined;
    takesValue.set(flag.name, { value, repeatable: flag.isRepeatable ?? false });
  }
  const { tokens = [] } = parseArgs({
    args: [...args],
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(
      [...takesValue].map(([name, { value }]) => [
        name,
        { type: value ? ("string" as const) : ("boolean" as const), multiple: true },
      ]),
    ),
  });

  const positionals: string[] = [];
  const flags = new Map<string, (string | true)[]>();
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const option = takesValue.get(token.name);
    if (!option) {
      problems.push(`${token.rawName} is not an option of allclear ${command.name}.`);
      continue;
    }
    if (option.value && token.value === undefined) {
      problems.push(`--${token.name} needs a value.`);
      continue;
    }
    if (option.value && token.inlineValue === false && token.value?.startsWith("--")) {
      // Probably a forgotten value; otherwise a key could be created with the name "--json".
      const joined = `--${token.name}=${token.value}`;
      problems.push(`--${token.name} needs a value; if ${token.value} is meant, write ${joined}.`);
      continue;
    }
    if (!option.value && token.value !== undefined) {
      problems.push(`--${token.name} takes no value.`);
      continue;
    }
    const before = flags.get(token.name) ?? [];
    if (before.length > 0 && !option.repeatable) {
      problems.push(`--${token.name} is given more than once.`);
    }
    flags.set(token.name, [...before, token.value ?? true]);
  }
  return { positionals, flags };
}
