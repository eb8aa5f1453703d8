/** Writes the manual page, `allclear(1)`, from the commands and options of the program. */
import manifest from "../../package.json" with { type: "json" };
import type { Option } from "../../src/base/config/parse";
import { OPTIONS } from "../../src/base/config/options";
import type { Command, Flag, Setting } from "../../src/cli/command";
import { EXIT } from "../../src/cli/remote/client";

/** Headings of the options, by the commands that take them. */
const SCOPES: Readonly<Record<Option<unknown>["scope"], string>> = {
  everywhere: "Commands on a data directory",
  serve: "serve",
  mail: "serve and commands that send mail",
  "sign-in": "serve and commands about signing in",
};

const EXIT_STATUS: Readonly<Record<number, string>> = {
  0: "The command succeeded.",
  1: "The command failed.",
  2: "The command or a setting is wrong. All problems are listed.",
  [EXIT.credential]: "The server did not accept the key, or there is none.",
  [EXIT.noAnswer]: "The server did not answer.",
  [EXIT.conflict]: "The state of the server forbids the change.",
  [EXIT.failOn]: "A headline is as bad as status \\-\\-fail\\-on says, or worse.",
  75: "A command that a mail server runs failed, and can be repeated.",
  125: "maintenance run did not run the program, whose code it has otherwise.",
};

/** Returns the page in the format of `man`. The date is that of the version, such as 2026-11-29. */
export function manPage(commands: readonly Command[], date: string): string {
  const options: Option<unknown>[] = Object.values(OPTIONS);
  const settings = [...new Set(commands.flatMap((command) => command.settings ?? []))];
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
    ".SS Commands to a server, and probe",
    ...settings.flatMap(optionLines),
    ".SH ENVIRONMENT",
    "These settings have no flag, since other processes can read arguments.",
    ...[...options, ...settings].filter(({ flag }) => flag === undefined).flatMap(variableLines),
    ".SH EXIT STATUS",
    ...Object.entries(EXIT_STATUS).flatMap(([code, meaning]) => [".TP", `.B ${code}`, meaning]),
    ".SH FILES",
    ".TP",
    `.I ${text(OPTIONS.dataDir.default ?? "")}`,
    text(OPTIONS.dataDir.help),
  ];
  return `${lines.join("\n")}\n`;
}

function commandLines({ name, summary, flags = [], ...command }: Command): string[] {
  const { positionals = [], optionalPositionals = [], words: further } = command;
  const given = [...positionals, ...optionalPositionals.map((word) => `[${word}]`)];
  const italic = given.map((word) => ` \\fI${text(word)}\\fR`).join("");
  const words = further === undefined ? italic : `${italic} \\-\\- \\fI${text(further)}\\fR`;
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

function optionLines({ flag, env, placeholder, default: standard, help }: Setting<unknown>) {
  if (flag === undefined) return [];
  const origin = standard ? `${env}, default ${standard}` : env;
  return [".TP", flagText(flag, placeholder), text(help), ".br", text(`[${origin}]`)];
}

function variableLines({ env, fileEnv, help }: Setting<unknown>): string[] {
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
