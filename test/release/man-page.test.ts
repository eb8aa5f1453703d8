import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { manPage } from "../../deploy/release/man-page";
import { listCommands } from "../../src/cli/main";
import type { Setting } from "../../src/cli/command";
import { SETTINGS } from "../../src/cli/remote/client";
import { OPTIONS } from "../../src/base/config/options";
import { findProgram } from "../support/servers/server-process";
import { temporaryFolder } from "../support/temporary-folder";

const commands = await listCommands();
const page = manPage(commands, "2026-11-29");

const groff = findProgram("groff");
if (groff === undefined) {
  const missing = "the manual page is not formatted: groff is not installed.";
  if (process.env["CI"]) throw new Error(missing);
  console.warn(`SKIPPED: ${missing}`);
}

/** Formats a page as a terminal shows it, and returns the text in one line without hyphenation. */
async function format(text: string): Promise<{ shown: string; errors: string }> {
  using folder = temporaryFolder();
  const file = join(folder.path, "allclear.1");
  await Bun.write(file, text);
  const command = [groff ?? "", "-man", "-Tutf8", "-ww", "-P-c", "-rLL=2000n", "-rHY=0", file];
  const { stdout, stderr } = Bun.spawnSync(command);
  const shown = stdout.toString().replaceAll(/.[\b]/gu, "").replaceAll(/\s+/g, " ");
  return { shown, errors: stderr.toString() };
}

/** Text as a terminal shows it in one line. */
function line(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

describe("the manual page", () => {
  test("is plain ASCII, and equal for equal commands", () => {
    expect(page).toMatch(/^[\n -~]*$/);
    expect(manPage(commands, "2026-11-29")).toBe(page);
    expect(manPage(commands, "2026-11-30")).not.toBe(page);
  });

  test.skipIf(groff === undefined)("is formatted without a warning", async () => {
    expect((await format(page)).errors).toBe("");
    expect((await format(`${page}.TP\n\\[none]\n`)).errors).not.toBe("");
  });

  test.skipIf(groff === undefined)("has every command and flag with its sentence", async () => {
    const { shown } = await format(page);
    expect(commands.length).toBeGreaterThan(20);
    for (const { name, positionals = [], summary, flags = [], ...command } of commands) {
      const { optionalPositionals = [], words } = command;
      const optional = optionalPositionals.map((word) => `[${word}]`);
      const further = words === undefined ? [] : ["--", words];
      const shape = [name, ...positionals, ...optional, ...further, summary];
      expect(shown).toContain(line(shape.join(" ")));
      for (const { name: flag, placeholder = "", help } of flags) {
        expect(shown).toContain(line(`--${flag} ${placeholder} ${help}`));
      }
    }
  });

  test.skipIf(groff === undefined)("has every option and variable with its default", async () => {
    const { shown } = await format(page);
    const settings: Setting<unknown>[] = [...Object.values(OPTIONS), ...SETTINGS];
    for (const option of settings) {
      const { flag, env, fileEnv, placeholder, default: standard, help } = option;
      const origin = standard ? `${env}, default ${standard}` : env;
      const parts =
        flag === undefined
          ? [env, help, fileEnv === undefined ? "" : `[${fileEnv} names a file with it]`]
          : [`--${flag} ${placeholder}`, help, `[${origin}]`];
      expect(shown).toContain(line(parts.join(" ")));
    }
  });
});
