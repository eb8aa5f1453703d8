import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { listCommands } from "../../src/cli/main";
import { PROCESS_TEST_MS } from "../support/binary";
import { commandLine } from "../support/command-line";
import { findProgram } from "../support/servers/server-process";
import { temporaryFolder } from "../support/temporary-folder";

setDefaultTimeout(PROCESS_TEST_MS);

const COMMANDS = await listCommands();

/** Returns the flags that a script completes for a command, without their dashes. */
function flagsIn(shell: string, script: string, command: string): string[] {
  const lines = script.split("\n");
  const at = lines.findIndex((line) => line.trim().startsWith(`'${command}:-'*)`));
  const ofFish = (line: string) => line.includes(`-n '__allclear_begins ${command}' `);
  const own = shell === "fish" ? lines.filter(ofFish) : lines.slice(at, at + 2);
  const pattern = { bash: /--([\w-]+)/g, zsh: /'--([\w-]+):/g, fish: / -l ([\w-]+)/g }[shell];
  return Array.from(own.join("\n").matchAll(pattern ?? /x/g), ([, flag]) => flag ?? "");
}

/** Line that is typed, up to the cursor, and words that the shell offers for its last word. */
const LINES: readonly [string, string[]][] = [
  ["allclear stat", ["status"]],
  ["allclear comp", ["component", "completion"]],
  ["allclear incident ", ["list", "open", "resolve", "update"]],
  ["allclear incident o", ["open"]],
  ["allclear status --fail", ["--fail-on"]],
  ["allclear status --fail-on ", ["critical", "major", "minor"]],
  ["allclear status --json --server x --fail-on m", ["major", "minor"]],
  ["allclear incident open --impact m", ["major", "minor"]],
  ["allclear component set x maj", ["major_outage"]],
  ["allclear completion ", ["bash", "fish", "zsh"]],
  ["allclear maintenance run --comp", ["--component"]],
  ["allclear key create --na", ["--name"]],
  ["allclear key rotate x --overlap ", ["1h", "24h", "7d", "now"]],
  ["allclear nothing at", []],
  // File names of the working directory.
  ["allclear apply some", ["some-file.yaml"]],
  ["allclear status --ca-file some", ["some-file.yaml"]],
  ["allclear maintenance run --component x -- some", ["some-file.yaml"]],
];

/** Programs by which each shell completes a line that stands in the variable LINE, with the script in SCRIPT. */
const SHELLS: Readonly<Record<string, { args: string[]; program: string }>> = {
  bash: {
    args: ["--noprofile", "--norc", "-i", "-c"],
    program: `
      source "$SCRIPT"
      read -ra COMP_WORDS <<<"$LINE"
      [[ $LINE == *" " ]] && COMP_WORDS+=("")
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
      complete -p allclear >/dev/null || exit 9
      _allclear
      if [[ \${#COMPREPLY[@]} -eq 0 ]]; then
        [[ $(complete -p allclear) == *"-o default"* ]] || exit 8
        COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
      fi
      [[ \${#COMPREPLY[@]} -eq 0 ]] || printf '%s\\n' "\${COMPREPLY[@]}"`,
  },
  // The shell of the pseudo-terminal lists all matches, and puts none into the line.
  zsh: {
    args: ["-f", "-c"],
    program: `
      zmodload zsh/zpty
      zpty shell zsh -f -i
      send() { zpty -w shell "$1"; }
      send "PS1= PROMPT= RPS1= ; unsetopt zle_bracketed_paste; autoload -U compinit && compinit -u -D"
      send "setopt no_auto_menu no_list_beep list_rows_first; zstyle ':completion:*' list-colors ''"
      send "source $SCRIPT"
      send 'matches() { compadd() { local -a found; builtin compadd -O found "$@"; print -rl -- "<"$^found">"; }; _main_complete; unfunction compadd; exit; }'
      send "zle -C show complete-word matches; bindkey '^T' show"
      send 'print READY-$((1+1))'
      zpty -r shell output '*READY-2*'
      zpty -w -n shell "$LINE"$'\\x14'
      while zpty -r shell output; do print -r -- "$output"; done`,
  },
  fish: {
    args: ["--no-config", "-c"],
    program: `
      source $SCRIPT
      complete -C $LINE | string replace -r '\\t.*' ''`,
  },
};

describe.each(Object.keys(SHELLS))("completion in %s", (name) => {
  const { args, program } = SHELLS[name] as { args: string[]; program: string };
  const path = findProgram(name);
  if (path === undefined) {
    const message = `The program ${name} is not installed.`;
    if (process.env["CI"]) throw new Error(message);
    console.warn(`SKIPPED: completion in ${name}. ${message}`);
    test.skip("the script completes commands, flags, values and files", () => {});
    return;
  }

  async function complete(folder: string, line: string): Promise<string[]> {
    const child = Bun.spawn([path ?? "", ...args, program], {
      cwd: folder,
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: folder,
        TERM: "xterm",
        SCRIPT: join(folder, "script"),
        LINE: line,
      },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const text = await new Response(child.stdout).text();
    const shown =
      name === "zsh"
        ? Array.from(text.matchAll(/<([^<>\s]*)>/g), ([, word]) => word ?? "")
        : text.split("\n");
    return [...new Set(shown.filter((word) => word !== ""))].toSorted();
  }

  test("the script completes commands, flags, values and files", async () => {
    using folder = temporaryFolder();
    const { out } = await commandLine(folder.path)(["completion", name]);
    await Bun.write(join(folder.path, "script"), out.join("\n"));
    await Bun.write(join(folder.path, "some-file.yaml"), "");
    const completed = await Promise.all(LINES.map(([line]) => complete(folder.path, line)));
    const expected = LINES.map(([line, words]) => [line, words.toSorted()]);
    expect(LINES.map(([line], index) => [line, completed[index]])).toEqual(expected as never);
  });

  test("the script completes every command, and every flag of each", async () => {
    using folder = temporaryFolder();
    const { out } = await commandLine(folder.path)(["completion", name]);
    const script = out.join("\n");
    for (const { name: command, flags = [] } of COMMANDS) {
      for (const word of command.split(" ")) expect(script).toContain(word);
      const expected = ["help", ...flags.map((flag) => flag.name)];
      const completed = flagsIn(name, script, command);
      expect([command, completed]).toEqual([command, expect.arrayContaining(expected)]);
    }
  });
});
