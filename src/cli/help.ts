import type { Option } from "../base/config/option";
import { type OptionName, OPTIONS } from "../base/config/options";
import type { Command, Flag } from "./command";

const WIDTH = 26;

/** Returns the help of the program, with all commands. */
export function programHelp(commands: readonly Command[], version: string): string {
  return [
    `Allclear ${version}: a status page and incident communication service in one executable.`,
    "",
    "Usage: allclear [COMMAND] [OPTIONS]",
    "",
    "Commands (default: serve):",
    ...commands.filter(({ isInternal }) => !isInternal).map(commandRow),
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
    `allclear ${usageOf(command)}${flags.map(shortFlag).join("")} [OPTIONS]`,
    "",
    command.summary,
    "",
    "Options:",
    ...flags.map((flag) => row(flagText(flag.name, flag.placeholder), flag.help)),
    ...command.options.flatMap(optionRows),
    row("-h, --help", "Print this help."),
  ].join("\n");
}

function commandRow(command: Command): string {
  return row(usageOf(command), command.summary);
}

function usageOf(command: Command): string {
  return [command.name, ...(command.positionals ?? [])].join(" ");
}

function shortFlag(flag: Flag): string {
  const text = flagText(flag.name, flag.placeholder) + (flag.isRepeatable ? "…" : "");
  return flag.isRequired ? ` ${text}` : ` [${text}]`;
}

function optionRows(name: OptionName): string[] {
  const {
    flag,
    env,
    default: standard,
    placeholder,
    help,
    fileEnv,
  }: Option<unknown> = OPTIONS[name];
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
