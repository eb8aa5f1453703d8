/** Writes the manual page, `allclear(1)`, from the commands and options of the program. */
import manifest from "../../package.json" with { type: "json" };
import type { Option } from "../../src/base/config/parse";
import { OPTIONS } from "../../src/base/config/options";
import type { Command, Flag } from "../../src/cli/command";

/** Headings of the options, by the commands that take them. */
const SCOPES: Readonly<Record<Option<unknown>["scope"], string>> = {
  everywhere: "All commands but demo",
  serve: "serve",
  mail: "serve and commands that send mail",
  "sign-in": "serve and commands about signing in",
};

const EXIT_STATUS: Readonly<Record<number, string>> = {
  0: "The command succeeded.",
  1: "The command failed.",
  2: "The command or a setting is wrong. All problems are listed.",
  75: "A command that a mail server runs failed, and can be repeated.",
};

/** Returns the page in the format of `man`. The date is that of the version, such as 2026-11-29. */
export function manPage(commands: readonly Command[], date: string): string {
  const options: Option<unknown>[] = Object.values(OPTIONS);
  const lines = [
    `.TH ALLCLEAR 1 ${date} "Allclear ${manifest.version}" "User Commands"`,
    ".SH NAME",
    `allclear \\- ${text(manifest.description.toLowerCase().replace(/^an? |\.$/g, ""))}`,
    ".SH SYNOPSIS",
    ".B allclear",
    "[\\fICOMMAND\\fR] [\\fIOPTIONS\\fR]",
    ".SH DESCRIPTION",
    text(manifest.description),
    "Without a command,",
    ".B allclear serve",
    "runs.",
    ".PP",
    ".B allclear \\-\\-help",
    "lists the commands,",
    ".B allclear \\fICOMMAND\\fB \\-\\-help",
    "lists the options of one.",
    ".B allclear \\-\\-version",
    "prints the version.",
    ".SH COMMANDS",
    ...commands.flatMap(commandLines),
    ".SH OPTIONS",
    "Each option can also be set by an environment variable. The flag has precedence.",
    ...Object.entries(SCOPES).flatMap(([scope, heading]) => [
      `.SS ${text(heading)}`,
      ...options.filter((option) => option.scope === scope).flatMap(optionLines),
    ]),
    ".SH ENVIRONMENT",
    "These settings have no flag, since other processes can read arguments.",
    ...options.filter(({ flag }) => flag === undefined).flatMap(variableLines),
    ".SH EXIT STATUS",
    ...Object.entries(EXIT_STATUS).flatMap(([code, meaning]) => [".TP", `.B ${code}`, meaning]),
    ".SH FILES",
    ".TP",
    `.I ${text(OPTIONS.dataDir.default ?? "")}`,
    text(OPTIONS.dataDir.help),
  ];
  return `${lines.join("\n")}\n`;
}

function commandLines({ name, positionals = [], summary, flags = [] }: Command): string[] {
  const words = positionals.map((word) => ` \\fI${text(word)}\\fR`).join("");
  return [
    ".TP",
    `\\fB${text(name)}\\fR${words}`,
    text(summary),
    ...(flags.length === 0 ? [] : [".RS", ...flags.flatMap(flagLines), ".RE"]),
  ];
}

function flagLines({ name, placeholder, isRequired, isRepeatable, help }: Flag): string[] {
  const isNeeded = isRequired ? " Required." : "";
  const canRepeat = isRepeatable && !/repeated/.test(help) ? " Can be repeated." : "";
  return [".TP", flagText(name, placeholder), text(`${help}${isNeeded}${canRepeat}`)];
}

function optionLines({ flag, env, placeholder, default: standard, help }: Option<unknown>) {
  if (flag === undefined) return [];
  const origin = standard ? `${env}, default ${standard}` : env;
  return [".TP", flagText(flag, placeholder), text(help), ".br", text(`[${origin}]`)];
}

function variableLines({ env, fileEnv, help }: Option<unknown>): string[] {
  const file = fileEnv === undefined ? [] : [".br", text(`[${fileEnv} names a file with it]`)];
  return [".TP", `.B ${text(env)}`, text(help), ...file];
}

function flagText(name: string, placeholder: string | undefined): string {
  const value = placeholder === undefined ? "" : ` \\fI${text(placeholder)}\\fR`;
  return `\\fB\\-\\-${text(name)}\\fR${value}`;
}

/** Characters that `man` would read as commands or print as other ones. */
const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\e",
  "-": "\\-",
  "'": "\\(aq",
  "`": "\\(ga",
  "^": "\\(ha",
  "~": "\\(ti",
};

/** Returns text as one line of the format, in ASCII. */
function text(plain: string): string {
  return plain
    .replaceAll(/\s+/g, " ")
    .replaceAll(/[\\'`^~-]/g, (letter) => ESCAPES[letter] ?? letter)
    .replaceAll(/[^ -~]/gu, (letter) => {
      const code = letter.codePointAt(0) ?? 0;
      return `\\[u${code.toString(16).toUpperCase().padStart(4, "0")}]`;
    })
    .replace(/^\./, "\\&.");
}
