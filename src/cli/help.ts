/** Texts of `--help`. They are loaded when they are needed. */
import { OPTIONS } from "../base/config/options";
import type { Command, Flag, Setting } from "./command";

/** Width of the left column of the help, in characters. */
const WIDTH = 26;

/** Returns the help of the program, with all commands. */
export function programHelp(commands: readonly Command[], version: string): string {
  return [
    `Allclear ${version}: a status page and incident communication service in one executable.`,
    "",
    "Usage: allclear [COMMAND] [OPTIONS]",
    "",
    "Commands (default: serve):",
    ...commands.filter((command) => !isRemote(command)).map(commandRow),
    "",
    "Commands for a server on any machine, with an API key:",
    ...commands.filter(isRemote).map(commandRow),
    "",
    "Global options:",
    row("--version", "Print the version."),
    row("-h, --help", "Print this help, or the help of a command."),
    "",
    "allclear COMMAND --help lists a command's options. Each can also be set by the environment.",
  ].join("\n");
}

/** Returns the help of commands that begin with the same word, such as `key`. */
export function groupHelp(commands: readonly Command[]): string {
  return [
    "Commands:",
    ...commands.map(commandRow),
    "",
    "allclear COMMAND --help lists a command's options.",
  ].join("\n");
}

/** Returns the help of one command. */
export function commandHelp(command: Command): string {
  const flags = command.flags ?? [];
  return [
    `allclear ${usageOf(command)}${flags.map(shortFlag).join("")} [OPTIONS]${wordsOf(command)}`,
    "",
    command.summary,
    "",
    "Options:",
    ...flags.map((flag) => row(flagText(flag.name, flag.placeholder), flag.help)),
    ...[...(command.settings ?? []), ...command.options.map((name) => OPTIONS[name])].flatMap(
      settingRows,
    ),
    row("-h, --help", "Print this help."),
  ].join("\n");
}

/** True for a command that sends requests to a server, which has a setting for its key. */
function isRemote({ settings = [] }: Command): boolean {
  return settings.some(({ env }) => env === "ALLCLEAR_KEY");
}

function commandRow(command: Command): string {
  return row(usageOf(command), command.summary);
}

function wordsOf({ words }: Command): string {
  return words === undefined ? "" : ` -- ${words}`;
}

/** Returns a command with its positional arguments, as in its help: `status [PAGE]`. */
export function usageOf(command: Command): string {
  const optional = (command.optionalPositionals ?? []).map((name) => `[${name}]`);
  return [command.name, ...(command.positionals ?? []), ...optional].join(" ");
}

function shortFlag(flag: Flag): string {
  const text = flagText(flag.name, flag.placeholder) + (flag.isRepeatable ? "…" : "");
  return flag.isRequired ? ` ${text}` : ` [${text}]`;
}

function settingRows({
  flag,
  env,
  default: standard,
  placeholder,
  help,
  fileEnv,
}: Setting<unknown>): string[] {
  if (flag === undefined) return [row(env, help), ...(fileEnv ? [row(fileEnv, "")] : [])];
  const origin = standard ? `${env}, default ${standard}` : env;
  return [row(flagText(flag, placeholder), help), row("", `[${origin}]`)];
}

function flagText(name: string, placeholder: string | undefined): string {
  return placeholder === undefined ? `--${name}` : `--${name} ${placeholder}`;
}

function row(left: string, right: string): string {
  if (right === "") return `  ${left}`;
  return left.length >= WIDTH
    ? `  ${left}\n  ${" ".repeat(WIDTH)}${right}`
    : `  ${left.padEnd(WIDTH)}${right}`;
}
