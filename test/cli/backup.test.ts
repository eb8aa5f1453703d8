import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { PROGRAM } from "../../src/version";
import { commandLine, installedCommandLine, jsonOf } from "../support/command-line";
import { temporaryFolder } from "../support/temporary-folder";

const create = ["key", "create", "--scope", "read:status", "--name"];

describe("allclear backup and restore, while no server runs", () => {
  test("restore brings back the state of the backup and keeps the replaced database", async () => {
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
      `Restored ${copy}. All sessions have ended, and one-time links no longer work.`,
    ]);
    expect(await names()).toEqual(["before"]);

    const kept = /is kept in (.+)\.$/.exec(err[1] ?? "")?.[1] ?? "";
    expect(readdirSync(dataDir)).toContain(basename(kept));
    const back = await run(["restore", kept]);
    expect(back.exitCode).toBe(0);
    const unverified = `${kept} has no digest, so it could not be verified: SQLite found no damage in it, but does not notice all.`;
    expect(back.err).toContain(unverified);
    expect(err.join("\n")).not.toContain("digest");
    expect(await names()).toEqual(["after", "before"]);
  });

  test("restore keeps a key revoked that was revoked after the backup, and reports it", async () => {
    using folder = temporaryFolder();
    const copy = join(folder.path, "copy.db");
    const run = commandLine(join(folder.path, "data"));
    const { id } = jsonOf<{ id: string }>(await run([...create, "leaked", "--json"]));
    await run(["backup", copy]);
    await run(["key", "revoke", id]);
    const { exitCode, err } = await run(["restore", copy]);
    expect([exitCode, ...err.slice(2)]).toEqual([
      0,
      "Carried over from the replaced database: 1 revoked key.",
    ]);
    const [key] = jsonOf<{ revoked_at: string | null }[]>(await run(["key", "list", "--json"]));
    expect(key?.revoked_at).not.toBeNull();
  });

  test("restore without a database lists credentials that work again, with commands that revoke them", async () => {
    using folder = temporaryFolder();
    const copy = join(folder.path, "copy.db");
    const source = commandLine(join(folder.path, "source"));
    const { id } = jsonOf<{ id: string }>(await source([...create, "CI", "--json"]));
    const user = ["user", "create", "--email", "ada@acme.test", "--password-stdin"];
    await source(user, {}, ["correct horse battery"]);
    await source(["backup", copy]);

    const dataDir = join(folder.path, "other");
    const run = commandLine(dataDir);
    const { exitCode, err } = await run(["restore", copy]);
    expect(exitCode).toBe(0);
    expect(err.slice(1)).toEqual([
      "There was no database to replace, so credentials revoked since the backup are unknown.",
      "These credentials work again. Revoke those that should not.",
      "API keys:",
      `  ${id}  CI`,
      "To revoke one:",
      `  ${PROGRAM} key revoke ID --data-dir ${dataDir}`,
      "Users, with their passwords at the time of the backup:",
      expect.stringMatching(/^ {2}usr_\w+ {2}ada@acme\.test, owner$/),
      "Ways to revoke one:",
      `  ${PROGRAM} user disable EMAIL --data-dir ${dataDir}`,
      `  ${PROGRAM} user reset-password EMAIL --data-dir ${dataDir}`,
    ]);
    await run([...user.with(3, "bob@acme.test"), "--role", "owner"], {}, ["correct horse battery"]);
    const commands = err.filter((line) => line.startsWith(`  ${PROGRAM} `));
    for (const command of commands.toReversed()) {
      const filled = command.replace("ID", id).replace("EMAIL", "ada@acme.test");
      const words = filled.slice(`  ${PROGRAM} `.length).split(" ");
      expect([command, (await run(words)).exitCode]).toEqual([command, 0]);
    }
  });

  test("restore over a damaged database says that credentials may not have been carried over", async () => {
    using folder = temporaryFolder();
    const copy = join(folder.path, "copy.db");
    const dataDir = join(folder.path, "data");
    const run = commandLine(dataDir);
    await run([...create, "CI"]);
    await run(["backup", copy]);
    await Bun.write(join(dataDir, "allclear.db"), "ruined ".repeat(1_000));
    const { exitCode, err } = await run(["restore", copy]);
    expect([exitCode, ...err.slice(2, 5)]).toEqual([
      0,
      "Carried over from the replaced database: nothing.",
      "Some credentials in the replaced database cannot be read, so credentials revoked since the backup may be missing above.",
      "These credentials work again. Revoke those that should not.",
    ]);
  });

  test("restore says how to create an owner if none can sign in", async () => {
    using folder = temporaryFolder();
    const copy = join(folder.path, "copy.db");
    const dataDir = join(folder.path, "data");
    const run = commandLine(dataDir);
    const createUser = (email: string, role: string) =>
      run(["user", "create", "--email", email, "--role", role, "--password-stdin"], {}, [
        "correct horse battery",
      ]);
    await createUser("ada@acme.test", "owner");
    await run(["backup", copy]);
    await createUser("bob@acme.test", "owner");
    await run(["user", "disable", "ada@acme.test"]);
    const { err } = await run(["restore", copy]);
    expect(err.at(-1)).toStartWith("No owner can sign in. Create one: ");
    expect(err.at(-1)).toEndWith(`user create --email EMAIL --role owner --data-dir ${dataDir}`);
    expect((await createUser("bob@acme.test", "owner")).exitCode).toBe(0);
  });

  test("backup does not overwrite an existing file", async () => {
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

  test("restore rejects a file that is no backup and changes nothing", async () => {
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
