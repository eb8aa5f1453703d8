/* `completion`: scripts by which shells complete commands, flags and values, made from the table of commands. */
import { OPTIONS } from "../base/config/options";
import type { Command } from "./command";

const SHELLS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
type Shell = keyof typeof SHELLS;

export const completionCommand: Command = {
  name: "completion",
  summary: "Print the script by which a shell completes commands: bash, zsh or fish.",
  positionals: ["SHELL"],
  choices: { SHELL: Object.keys(SHELLS) },
  options: [],
  async run({ positionals, output, listCommands }) {
    const commands = (await listCommands()).map(describe);
    output.out(SHELLS[positionals[0] as Shell](commands).join("\n"));
    return 0;
  },
};

/** Words that a shell completes for one command. */
interface Described {
  /** One or two words. */
  name: string;
  summary: string;
  flags: readonly DescribedFlag[];
  /** Values of its positional arguments. */
  values: readonly string[];
}

interface DescribedFlag {
  /** With its dashes. */
  name: string;
  help: string;
  takesValue: boolean;
  choices: readonly string[];
}

function describe(command: Command): Described {
  const settings = [...(command.settings ?? []), ...command.options.map((name) => OPTIONS[name])];
  const flags: DescribedFlag[] = (command.flags ?? []).map((flag) => ({
    name: `--${flag.name}`,
    help: flag.help,
    takesValue: flag.placeholder !== undefined,
    choices: flag.choices ?? [],
  }));
  for (const { flag, help } of settings) {
    if (flag !== undefined) flags.push({ name: `--${flag}`, help, takesValue: true, choices: [] });
  }
  flags.push({ name: "--help", help: "Print the help.", takesValue: false, choices: [] });
  const values = Object.values(command.choices ?? {}).flat();
  return { name: command.name, summary: command.summary, flags, values };
}

/** First word of some commands, with their second words. */
interface Beginning {
  word: string;
  /** Empty if the first word is the whole name. */
  second: readonly { word: string; summary: string }[];
  summary: string;
}

/** Returns the first words of commands, in the order of the help. */
function beginningsOf(commands: readonly Described[]): Beginning[] {
  const groups = Map.groupBy(commands, ({ name }) => name.split(" ", 1)[0] ?? "");
  return Array.from(groups, ([word, those]) => {
    const second = those.flatMap(({ name, summary }) =>
      name
        .split(" ")
        .slice(1)
        .map((other) => ({ word: other, summary })),
    );
    const names = second.map((other) => other.word).join(", ");
    return { word, second, summary: names || (those[0]?.summary ?? "") };
  });
}

/** Returns commands of two words, whose first words take a second one. */
function groupsIn(commands: readonly Described[]): Beginning[] {
  return beginningsOf(commands).filter(({ second }) => second.length > 0);
}

/** Returns the flags of all commands that take a value, each after its command: `key create --name`. */
function valuesIn(commands: readonly Described[]) {
  const flags = commands.flatMap(({ name, flags: own }) =>
    own
      .filter(({ takesValue }) => takesValue)
      .map((flag) => ({ ...flag, at: `${name} ${flag.name}` })),
  );
  return {
    free: flags.filter(({ choices }) => choices.length === 0).map(({ at }) => at),
    chosen: flags.filter(({ choices }) => choices.length > 0),
  };
}

/** Returns a text as one word of bash and zsh. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Returns some words as one word of bash and zsh. */
function quoteAll(words: readonly string[]): string {
  return quote(words.join(" "));
}

/** An empty answer makes bash complete the names of files (`-o default`). */
function bashScript(commands: readonly Described[]): string[] {
  const beginnings = beginningsOf(commands);
  const groups = groupsIn(commands);
  const { free, chosen } = valuesIn(commands);
  return [
    '# Completion of allclear for bash: eval "$(allclear completion bash)"',
    "_allclear() {",
    "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}",
    "  local command=${COMP_WORDS[1]} matches= word",
    "  COMPREPLY=()",
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do [[ $word == -- ]] && return; done',
    "  case $COMP_CWORD:$command in",
    `    1:*) matches=${quoteAll(beginnings.map(({ word }) => word))} ;;`,
    ...groups.map(({ word, second }) => {
      return `    2:${word}) matches=${quoteAll(second.map((other) => other.word))} ;;`;
    }),
    `    *:${groups.map(({ word }) => word).join(" | *:")}) command+=" \${COMP_WORDS[2]}" ;;`,
    "  esac",
    '  [[ -n $matches ]] || case "$command $previous" in',
    `    ${free.map(quote).join(" | ")}) return ;;`,
    ...chosen.map(({ at, choices }) => `    ${quote(at)}) matches=${quoteAll(choices)} ;;`),
    "  esac",
    "  [[ -n $matches ]] || case $command:$current in",
    ...commands.flatMap(({ name, flags, values }) => [
      `    ${quote(`${name}:-`)}*) matches=${quoteAll(flags.map((flag) => flag.name))} ;;`,
      ...(values.length > 0 ? [`    ${quote(`${name}:`)}*) matches=${quoteAll(values)} ;;`] : []),
    ]),
    "  esac",
    '  COMPREPLY=($(compgen -W "$matches" -- "$current"))',
    "}",
    "complete -o default -F _allclear allclear",
  ];
}

/** Returns entries for `_describe` of zsh: words with their descriptions. */
function zshEntries(entries: readonly { word: string; summary: string }[]): string {
  return entries.map(({ word, summary }) => quote(`${word}:${summary}`)).join(" ");
}

function zshScript(commands: readonly Described[]): string[] {
  const { free, chosen } = valuesIn(commands);
  return [
    "#compdef allclear",
    "# Completion of allclear for zsh: source <(allclear completion zsh), or a file _allclear in $fpath.",
    "_allclear() {",
    "  local command=$words[2]",
    "  local -a matches",
    "  if (( CURRENT == 2 )); then",
    `    matches=(${zshEntries(beginningsOf(commands))})`,
    "    _describe command matches",
    "    return",
    "  fi",
    "  case $command in",
    ...groupsIn(commands).flatMap(({ word, second }) => [
      `    ${word})`,
      `      matches=(${zshEntries(second)})`,
      '      command+=" $words[3]" ;;',
    ]),
    "  esac",
    "  if (( CURRENT == 3 && $#matches )); then",
    "    _describe command matches",
    "    return",
    "  fi",
    "  matches=()",
    "  if [[ -n ${(M)words[2,CURRENT-1]:#--} ]]; then _files; return; fi",
    '  case "$command $words[CURRENT-1]" in',
    `    ${free.map(quote).join(" | ")}) _files; return ;;`,
    ...chosen.map(({ at, choices }) => {
      return `    ${quote(at)}) compadd -- ${choices.map(quote).join(" ")}; return ;;`;
    }),
    "  esac",
    "  case $command:$words[CURRENT] in",
    ...commands.flatMap(({ name, flags, values }) => [
      `    ${quote(`${name}:-`)}*)`,
      `      matches=(${zshEntries(flags.map((flag) => ({ word: flag.name, summary: flag.help })))})`,
      "      _describe option matches",
      "      return ;;",
      ...(values.length > 0
        ? [`    ${quote(`${name}:`)}*) compadd -- ${values.map(quote).join(" ")}; return ;;`]
        : []),
    ]),
    "  esac",
    "  _files",
    "}",
    // A file in $fpath is the function itself, at its first call.
    'if [[ $funcstack[1] == _allclear ]]; then _allclear "$@"; else compdef _allclear allclear; fi',
  ];
}

/** Returns a text as one word of fish. */
function quoteForFish(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

function fishScript(commands: readonly Described[]): string[] {
  /** Returns the line that completes words after the given ones. */
  const complete = (condition: string, rest: string) =>
    `complete -c allclear -n ${quoteForFish(condition)} ${rest}`;
  const word = (condition: string, entry: { word: string; summary: string }) =>
    complete(condition, `-f -a ${entry.word} -d ${quoteForFish(entry.summary)}`);
  return [
    "# Completion of allclear for fish: allclear completion fish | source",
    "function __allclear_is",
    "    set -l words (commandline -opc)",
    "    set -e words[1]",
    '    test "$words" = "$argv"',
    "end",
    "function __allclear_begins",
    "    set -l words (commandline -opc)",
    "    set -e words[1]",
    "    set -l length (count $argv)",
    '    not contains -- -- $words; and test "$words[1..$length]" = "$argv"',
    "end",
    ...beginningsOf(commands).map((entry) => word("__allclear_is", entry)),
    ...groupsIn(commands).flatMap(({ word: first, second }) =>
      second.map((entry) => word(`__allclear_is ${first}`, entry)),
    ),
    ...commands.flatMap(({ name, flags, values }) => {
      const condition = `__allclear_begins ${name}`;
      return [
        ...flags.map(({ name: flag, help, takesValue, choices }) => {
          const free = takesValue ? "-r " : "";
          const value = choices.length > 0 ? `-x -a ${quoteForFish(choices.join(" "))} ` : free;
          return complete(condition, `-l ${flag.slice(2)} ${value}-d ${quoteForFish(help)}`);
        }),
        ...(values.length > 0
          ? [complete(condition, `-f -a ${quoteForFish(values.join(" "))}`)]
          : []),
      ];
    }),
  ];
}
