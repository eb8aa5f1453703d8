import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { commandLine, installedCommandLine } from "../support/command-line";
import { temporaryFolder } from "../support/temporary-folder";

const create = ["key", "create", "--scope", "read:status", "--name"];

describe("allclear backup and restore, while no server runs", () => {
  test("restore brings back what was there at the backup, and keeps the database from before", async () => {
    using folder = temporaryFolder();
    const dataDir = join(folder.path, "data");
    const copy = join(folder.path, "copy.db");
    const run = commandLine(dataDir);
    const names = async () => {
      const { out } = await run(["key", "list", "--json"]);
      return (JSON.parse(out.join("\n")) as { name: string }[]).map(({ name }) => name);
    };
    await run([...create, "before"]);
    expect(await run(["backup", copy])).toEqual({ exitCode: 0, out: [], err: [`Wrote ${copy}.`] });
    await run([...create, "after"]);
    expect(await names()).toEqual(["after", "before"]);

    const { exitCode, err } = await run(["restore", copy]);
    expect([exitCode, err[0]]).toEqual([
      0,
      `Restored ${copy}. Everybody signs in again, and links that were open are void.`,
    ]);
    expect(await names()).toEqual(["before"]);

    const kept = /is kept in (.+)\.$/.exec(err[1] ?? "")?.[1] ?? "";
    expect(readdirSync(dataDir)).toContain(basename(kept));
    expect((await run(["restore", kept])).exitCode).toBe(0);
    expect(await names()).toEqual(["after", "before"]);
  });

  test("backup refuses to write over a file, and leaves it as it was", async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, "precious");
    await Bun.write(file, "precious");
    const { exitCode, err } = await installedCommandLine(join(folder.path, "data"))([
      "backup",
      file,
    ]);
    expect([exitCode, err]).toEqual([1, [`${file} exists already; name a new file.`]]);
    expect(await Bun.file(file).text()).toBe("precious");
  });

  test("restore refuses what is no backup, and touches nothing", async () => {
    using folder = temporaryFolder();
    const dataDir = join(folder.path, "data");
    const file = join(folder.path, "text");
    await Bun.write(file, "not a database");
    const run = commandLine(dataDir);
    await run([...create, "kept"]);
    const before = readdirSync(dataDir);
    const { exitCode, err } = await run(["restore", file]);
    expect(exitCode).toBe(1);
    expect(err[0]).toContain("not an Allclear database");
    expect(readdirSync(dataDir)).toEqual(before);
    expect((await run(["key", "list"])).out.join("\n")).toContain("kept");
  });
});
