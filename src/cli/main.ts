import { type GivenFlags, loadConfig, readOption } from "../base/config/load";
import { type Config, OPTIONS } from "../base/config/options";
import { Problem } from "../base/errors";
import { COPY_COMMAND, EXAMINE_COMMAND, IMPORT_COMMAND } from "../base/own-program";
import { OperatorError } from "../db/errors";
import { VERSION } from "../version";
import {
  type Command,
  type ExitCode,
  Failure,
  type Input,
  type Invocation,
  type Output,
  type Setting,
  UsageError,
} from "./command";
import { processInput, processOutput } from "./process";

/** Loads the commands that begin with a word. Each word has a file, so that a command loads only its own code. */
type LoadCommands = () => Promise<readonly Command[]>;

/** Commands by their first word, in the order of the help. */
const COMMANDS: ReadonlyMap<string, LoadCommands> = new Map<string, LoadCommands>([
  ["serve", async () => [(await import("./serve")).serveCommand]],
  ["demo", async () => [(await import("./demo")).demoCommand]],
  ["key", async () => (await import("./key")).keyCommands],
  ["user", async () => (await import("./user")).userCommands],
  ["page", async () => (await import("./page")).pageCommands],
  ["sign-in", async () => (await import("./sign-in")).signInCommands],
  ["apply", async () => [(await import("./apply")).applyCommand]],
  ["export", async () => [(await import("./apply")).exportCommand]],
  ["schema", async () => [(await import("./apply")).schemaCommand]],
  ["import", async () => (await import("./import")).importCommands],
  ["mail", async () => (await import("./mail")).mailCommands],
  ["subscriber", async () => (await import("./subscriber")).subscriberCommands],
  ["backup", async () => [(await import("./backup")).backupCommand]],
  ["restore", async () => [(await import("./restore")).restoreCommand]],
  ["promote", async () => [(await import("./fleet")).promoteCommand]],
  ["demote", async () => [(await import("./fleet")).demoteCommand]],
  ["fleet", async () => (await import("./fleet")).fleetCommands],
  ["probe", async () => [(await import("./probe")).probeCommand]],
  ["healthcheck", async () => [(await import("./healthcheck")).healthcheckCommand]],
  ["openapi", async () => [(await import("./openapi")).openapiCommand]],
  ["completion", async () => [(await import("./completion")).completionCommand]],
  ["status", async () => [(await import("./remote/status")).statusCommand]],
  ["watch", async () => [(await import("./remote/status")).watchCommand]],
  ["incident", async () => (await import("./remote/incident")).incidentCommands],
  ["component", async () => (await import("./remote/component")).componentCommands],
  ["monitor", async () => (await import("./remote/monitor")).monitorCommands],
  ["maintenance", async () => (await import("./remote/maintenance")).maintenanceCommands],
  [COPY_COMMAND, async () => [(await import("./internal")).copyDatabaseCommand]],
  [IMPORT_COMMAND, async () => [(await import("./answer-import")).answerImportCommand]],
  [EXAMINE_COMMAND, async () => [(await import("./internal")).examineDatabaseCommand]],
]);

/** Runs the command that this process was started with, and returns its exit code. */
export function main(): Promise<number> {
  return runCommandLine(process.argv.slice(2), process.env, processOutput(), processInput());
}

/** Runs one command line and returns its exit code. Prints errors instead of throwing them. */
export async function runCommandLine(
  args: readonly string[],
  env: Record<string, string | undefined>,
  output: Output,
  input: Input,
): Promise<ExitCode> {
  const [first] = args;
  if (first === "--version") {
    output.out(VERSION);
    return 0;
  }
  if (isHelp(first) || first === "help") {
    output.out((await import("./help")).programHelp(await listCommands(), VERSION));
    return 0;
  }
  // Flags alone are those of `serve`.
  const words = first === undefined || first.startsWith("-") ? ["serve", ...args] : [...args];
  const [word = ""] = words;
  const commands = (await COMMANDS.get(word)?.()) ?? [];
  const command = commands.find(({ name }) => isBeginning(name.split(" "), words));
  if (!command) {
    if (commands.length > 0 && words.some(isHelp)) {
      output.out((await import("./help")).groupHelp(commands));
      return 0;
    }
    const further = commands.map(({ name }) => name.split(" ")[1]);
    output.err(
      further.length > 0
        ? `allclear ${word} needs one of: ${further.join(", ")}.`
        : `allclear has no command ${word}.`,
    );
    output.err("allclear --help lists the commands.");
    return 2;
  }
  const rest = words.slice(command.name.split(" ").length);
  const end = rest.indexOf("--");
  if (rest.slice(0, end < 0 ? undefined : end).some(isHelp)) {
    output.out((await import("./help")).commandHelp(command));
    return 0;
  }
  try {
    return await command.run(readInvocation(command, rest, env, output, input));
  } catch (error) {
    const code = explain(error, command, output);
    return command.failureCode ?? code;
  }
}

/** Returns the commands that the help lists, in its order. */
export async function listCommands(): Promise<Command[]> {
  const commands: Command[] = [];
  for (const load of COMMANDS.values()) commands.push(...(await load()));
  return commands.filter(({ isInternal }) => !isInternal);
}

function isHelp(word: string | undefined): boolean {
  return word === "--help" || word === "-h";
}

function isBeginning(beginning: readonly string[], words: readonly string[]): boolean {
  return beginning.every((word, index) => words[index] === word);
}

function explain(error: unknown, command: Command, output: Output): ExitCode {
  if (error instanceof UsageError) {
    for (const problem of error.problems) output.err(problem);
    output.err(`allclear ${command.name} --help lists its options.`);
    return 2;
  }
  if (error instanceof Failure) {
    output.err(error.message);
    return error.exitCode;
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

/**
 * Parses the arguments of a command. Throws a UsageError with all problems: unknown flags, missing
 * arguments, and invalid settings from flags and environment variables.
 */
function readInvocation(
  command: Command,
  args: readonly string[],
  env: Record<string, string | undefined>,
  output: Output,
  input: Input,
): Invocation {
  const problems: string[] = [];
  const { positionals, flags, words } = tokenize(command, args, problems);

  const isReplaced = command.insteadOfPositionals?.some((name) => flags.has(name));
  const required = isReplaced ? [] : (command.positionals ?? []);
  const expected = [...required, ...(command.optionalPositionals ?? [])];
  for (const name of required.slice(positionals.length)) problems.push(`${name} is missing.`);
  for (const extra of positionals.slice(expected.length)) {
    // No error repeats a key.
    problems.push(`Unexpected: ${extra.startsWith("allclear_") ? "a key" : extra}`);
  }
  for (const [index, name] of expected.entries()) {
    requireChoice(name, positionals[index], command.choices?.[name], problems);
  }
  if (command.words !== undefined && words.length === 0) {
    problems.push(`-- ${command.words} is missing.`);
  }
  for (const flag of command.flags ?? []) {
    if (flag.isRequired && !flags.has(flag.name)) problems.push(`--${flag.name} is missing.`);
    for (const value of flags.get(flag.name) ?? []) {
      requireChoice(`--${flag.name}`, value, flag.choices, problems);
    }
  }

  const configFlags: GivenFlags = {};
  for (const name of command.options) {
    const { flag } = OPTIONS[name];
    const value = flag === undefined ? undefined : flags.get(flag)?.at(-1);
    if (typeof value === "string") configFlags[name] = value;
  }
  const settings = new Map<Setting<unknown>, unknown>();
  for (const setting of command.settings ?? []) {
    const value = flags.get(setting.flag ?? "")?.at(-1);
    const given = typeof value === "string" ? value : undefined;
    settings.set(setting, readOption(setting, given, env, problems).value);
  }
  const loaded = loadConfig(configFlags, env);
  if ("problems" in loaded) problems.push(...loaded.problems);
  if (problems.length > 0) throw new UsageError(problems);

  const values = (flag: string) =>
    (flags.get(flag) ?? []).filter((value): value is string => typeof value === "string");
  return {
    config: (loaded as { config: Config }).config,
    positionals,
    words,
    setting: (setting) => settings.get(setting) as never,
    values,
    value: (flag) => values(flag).at(-1),
    isSet: (flag) => flags.has(flag),
    env,
    input,
    output,
    listCommands,
  };
}

function requireChoice(
  name: string,
  value: string | true | undefined,
  choices: readonly string[] | undefined,
  problems: string[],
): void {
  if (typeof value !== "string" || choices === undefined || choices.includes(value)) return;
  problems.push(`${name} must be one of ${choices.join(", ")}.`);
}

interface Parsed {
  positionals: string[];
  words: string[];
  flags: Map<string, (string | true)[]>;
}

/** An argument such as `--name` or `--name=value`. */
const OPTION = /^--([^=]+)(?:=(.*))?$/s;

/** Divides arguments by the declaration of a command. `node:util`'s parser takes 2 ms of each start. */
function tokenize(command: Command, args: readonly string[], problems: string[]): Parsed {
  const declared = new Map<string, { takesValue: boolean; isRepeatable: boolean }>();
  for (const { flag } of [
    ...command.options.map((name) => OPTIONS[name]),
    ...(command.settings ?? []),
  ]) {
    if (flag !== undefined) declared.set(flag, { takesValue: true, isRepeatable: false });
  }
  for (const { name, placeholder, isRepeatable = false } of command.flags ?? []) {
    declared.set(name, { takesValue: placeholder !== undefined, isRepeatable });
  }

  const positionals: string[] = [];
  const words: string[] = [];
  const flags = new Map<string, (string | true)[]>();
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === "--") {
      (command.words === undefined ? positionals : words).push(...rest);
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
      const variable = secretVariable(command, name);
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
  return { positionals, words, flags };
}

/** Returns the variable of a setting that has no flag, by the name that its flag would have. */
function secretVariable({ settings = [] }: Command, flag: string): string | undefined {
  const variable = `ALLCLEAR_${flag.toUpperCase().replaceAll("-", "_")}`;
  const isSecret = [...Object.values(OPTIONS), ...settings].some(
    (option) => option.flag === undefined && option.env === variable,
  );
  return isSecret ? variable : undefined;
}
