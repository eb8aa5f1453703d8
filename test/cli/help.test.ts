import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { listCommands } from "../../src/cli/main";
import { OPTIONS } from "../../src/base/config/options";
import { commandLine } from "../support/command-line";
import { temporaryFolder } from "../support/temporary-folder";

/** The commands that the help of the whole program lists: rows of its first table. */
function listedCommands(help: readonly string[]): string[] {
  const text = help.join("\n");
  const table = text.slice(text.indexOf("Commands ("), text.indexOf("Options of the whole:"));
  return [...table.matchAll(/^ {2}([a-z][a-z-]*(?: [a-z-]+)*)/gm)].map(([, name]) => name ?? "");
}

const COMMANDS = await listCommands();

describe("help", () => {
  test.each([["--help"], ["-h"], ["help"]])(
    "`allclear %s` lists every command once",
    async (word) => {
      using folder = temporaryFolder();
      const { exitCode, out, err } = await commandLine(folder.path)([word]);
      expect([exitCode, err]).toEqual([0, []]);
      expect(listedCommands(out)).toEqual(COMMANDS.map(({ name }) => name));
    },
  );

  test("help lists nothing that is not a command", async () => {
    using folder = temporaryFolder();
    const run = commandLine(folder.path);
    const { out } = await run(["--help"]);
    const listed = listedCommands(out);
    expect(listed.length).toBeGreaterThan(5);
    for (const name of listed) {
      const outcome = await run([...name.split(" "), "--help"]);
      expect([name, outcome.exitCode]).toEqual([name, 0]);
      expect(outcome.out.join("\n")).toStartWith(`allclear ${name}`);
    }
    for (const missing of ["user create", "import", "demo", "export"]) {
      if (listed.includes(missing)) continue;
      expect([missing, (await run(missing.split(" "))).exitCode]).toEqual([missing, 2]);
    }
  });

  test("the first word of several commands with --help lists those commands", async () => {
    using folder = temporaryFolder();
    const run = commandLine(folder.path);
    for (const word of ["--help", "-h"]) {
      const { exitCode, out, err } = await run(["key", word]);
      expect([exitCode, err]).toEqual([0, []]);
      const text = out.join("\n");
      for (const { name } of COMMANDS) {
        expect([name, text.includes(name)]).toEqual([name, name.startsWith("key ")]);
      }
    }
    const without = await run(["key"]);
    expect([without.exitCode, without.out]).toEqual([2, []]);
    expect((await run(["kez", "--help"])).exitCode).toBe(2);
  });

  test("the help of a command names each flag and option with variable and default", async () => {
    using folder = temporaryFolder();
    const run = commandLine(folder.path);
    for (const command of COMMANDS) {
      const help = (await run([...command.name.split(" "), "--help"])).out.join("\n");
      for (const flag of command.flags ?? []) expect(help).toContain(`--${flag.name}`);
      for (const { flag, env, fileEnv = "" } of command.settings ?? []) {
        for (const shown of [flag ?? "", env, fileEnv]) expect(help).toContain(shown);
      }
      for (const [name, option] of Object.entries(OPTIONS)) {
        const isTaken = command.options.includes(name as keyof typeof OPTIONS);
        const shown = option.flag === undefined ? option.env : `--${option.flag} `;
        expect([command.name, name, help.includes(shown)]).toEqual([command.name, name, isTaken]);
        if (isTaken && option.flag !== undefined) {
          const origin = option.default ? `${option.env}, default ${option.default}` : option.env;
          expect(help).toContain(`[${origin}]`);
        }
      }
    }
  });

  test("every command takes --data-dir, except the demo and those to a server, which take --server", () => {
    const withoutDirectory = COMMANDS.filter(({ options }) => !options.includes("dataDir"));
    const [local, remote] = [false, true].map((isRemote) =>
      withoutDirectory
        .filter(({ settings = [] }) => settings.some(({ flag }) => flag === "server") === isRemote)
        .map(({ name }) => name.split(" ")[0]),
    );
    expect(local).toEqual(["demo", "completion"]);
    expect([...new Set(remote)]).toEqual([
      "probe",
      "status",
      "watch",
      "incident",
      "component",
      "monitor",
      "maintenance",
    ]);
  });

  test("`--version` prints only the version", async () => {
    using folder = temporaryFolder();
    const outcome = await commandLine(folder.path)(["--version"]);
    expect(outcome).toEqual({ exitCode: 0, out: [manifest.version], err: [] });
  });

  test("help touches no data directory", async () => {
    using folder = temporaryFolder();
    const dataDir = join(folder.path, "data");
    await commandLine(dataDir)(["key", "create", "--help"]);
    expect(existsSync(dataDir)).toBe(false);
    await commandLine(dataDir)(["key", "create", "--name", "n", "--scope", "read:status"]);
    expect(existsSync(dataDir)).toBe(true);
  });
});
