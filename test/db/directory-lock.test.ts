import { describe, expect, test } from "bun:test";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../../src/db";
import { lockOrExplain, openDataDirectory, tryLock } from "../../src/db/data-directory";
import { migrate } from "../../src/db/migrate";
import { MIGRATIONS } from "../../src/db/migrations";
import { openSqlite } from "../../src/db/open";
import { startChild } from "../support/child";
import { temporaryFolder } from "../support/temporary-folder";
import { hasTinyDisks, mountTinyDisk } from "../support/tiny-disk";

/** A data directory with a database, and another whose database is a link to it. */
function linkedDirectories(folder: string, link: (target: string, path: string) => void) {
  const [owner, other] = [join(folder, "owner"), join(folder, "other")];
  mkdirSync(other);
  const { database } = openDataDirectory(owner);
  using sqlite = openSqlite(database, 0);
  migrate(sqlite, undefined);
  link(database, join(other, "allclear.db"));
  return { owner, other };
}

describe("the lock of a data directory", () => {
  test("is one process's; another is told which process has it, by what command", async () => {
    using folder = temporaryFolder();
    const directory = openDataDirectory(folder.path);
    await using child = startChild("hold-directory.ts", folder.path, "serve");
    expect(await child.line()).toBe("held");

    expect(tryLock(directory, "serve")).toBeUndefined();
    const claim = () => lockOrExplain(directory, "serve");
    expect(claim).toThrow(OperatorError);
    expect(claim).toThrow(
      `The data directory ${folder.path} is in use by process ${child.pid} (allclear serve).`,
    );
  });

  test("is let go of by kill -9, and the next holder is named instead", async () => {
    using folder = temporaryFolder();
    const directory = openDataDirectory(folder.path);
    {
      await using child = startChild("hold-directory.ts", folder.path, "serve");
      expect(await child.line()).toBe("held");
      await child.kill();
    }
    const lock = lockOrExplain(directory, "restore");
    await using second = startChild("hold-directory.ts", folder.path, "serve");
    expect(await second.line()).toContain(`process ${process.pid} (allclear restore)`);
    expect(await second.line()).toBe("refused");
    lock.release();
  });

  test("is let go of by release, which leaves no note behind", async () => {
    using folder = temporaryFolder();
    const directory = openDataDirectory(folder.path);
    lockOrExplain(directory, "serve").release();
    expect(existsSync(join(folder.path, "allclear.pid"))).toBe(false);
    await using child = startChild("hold-directory.ts", folder.path, "serve");
    expect(await child.line()).toBe("held");
  });

  test("survives garbage collection while it is held", async () => {
    using folder = temporaryFolder();
    const directory = openDataDirectory(folder.path);
    await using child = startChild("hold-directory.ts", folder.path, "serve");
    expect(await child.line()).toBe("held");
    child.tell("collect");
    expect(await child.line()).toBe("collected");
    expect(tryLock(directory, "serve")).toBeUndefined();
  });

  test("is exclusive within a process too, and is not lost by trying again", () => {
    using folder = temporaryFolder();
    const directory = openDataDirectory(folder.path);
    const lock = lockOrExplain(directory, "serve");
    for (let attempt = 0; attempt < 3; attempt++) {
      expect(tryLock(directory, "serve")).toBeUndefined();
      Bun.gc(true);
    }
    lock.release();
    const again = tryLock(directory, "serve");
    expect(again).toBeDefined();
    again?.release();
  });

  test("holds, and is told of, where the note of its holder cannot be read", async () => {
    using folder = temporaryFolder();
    const directory = openDataDirectory(folder.path);
    const lock = lockOrExplain(directory, "serve");
    for (const note of ["", "null", "{"]) {
      writeFileSync(join(folder.path, "allclear.pid"), note);
      expect(() => lockOrExplain(directory, "serve")).toThrow("in use by another process.");
    }
    lock.release();
  });

  test("is that of the database, where another folder has a symbolic link to it", async () => {
    using folder = temporaryFolder();
    const { owner, other } = linkedDirectories(folder.path, symlinkSync);
    await using server = startChild("serve-directory.ts", owner);
    expect(await server.line()).toBe("serving");
    const claim = () => lockOrExplain(openDataDirectory(other), "serve");
    expect(claim).toThrow(
      `The data directory ${other} is in use by process ${server.pid} (allclear serve).`,
    );
    await server.kill();
    claim().release();
  });

  test("is refused while a server uses the database by a hard link, and had once it has ended", async () => {
    using folder = temporaryFolder();
    const { owner, other } = linkedDirectories(folder.path, linkSync);
    await using server = startChild("serve-directory.ts", owner);
    expect(await server.line()).toBe("serving");
    const directory = openDataDirectory(other);
    const claim = () => lockOrExplain(directory, "serve");
    expect(claim).toThrow(OperatorError);
    expect(claim).toThrow(`Another process uses ${directory.database} by another name`);
    expect(readdirSync(other)).not.toContain("allclear.pid");
    await server.kill();
    claim().release();
    // A link alone does not prevent a start; a killed restore can leave one.
    const first = lockOrExplain(openDataDirectory(owner), "serve");
    first.release();
  });

  test("of SQLite on the database outlasts an upgrade, which reads the file for its copy", async () => {
    using folder = temporaryFolder();
    const { owner, other } = linkedDirectories(folder.path, linkSync);
    using sqlite = openSqlite(join(other, "allclear.db"), 0);
    const latest = [
      ...MIGRATIONS,
      { number: MIGRATIONS.length + 1, name: "more", sql: "SELECT 1" },
    ];
    migrate(sqlite, openDataDirectory(other), latest);
    await using child = startChild("hold-directory.ts", owner, "serve");
    expect(await child.line()).toContain("by another name of the same file");
  });

  test("is one for each database where links lead to two of them in one folder", () => {
    using folder = temporaryFolder();
    const linked = ["one", "two"].map((name) => {
      const path = join(folder.path, name);
      mkdirSync(path);
      symlinkSync(join(folder.path, `${name}.db`), join(path, "allclear.db"));
      return openDataDirectory(path);
    });
    const locks = linked.map((directory) => lockOrExplain(directory, "serve"));
    for (const directory of linked) {
      expect(() => lockOrExplain(directory, "serve")).toThrow(`process ${process.pid}`);
    }
    for (const lock of locks) lock.release();
  });

  test("keeps no other folder from being used", () => {
    using one = temporaryFolder();
    using two = temporaryFolder();
    const first = lockOrExplain(openDataDirectory(one.path), "serve");
    const second = lockOrExplain(openDataDirectory(two.path), "serve");
    first.release();
    second.release();
  });
});

describe.skipIf(!hasTinyDisks())("the lock on a full disk", () => {
  test("can be taken, though no note can be left", () => {
    using disk = mountTinyDisk();
    const directory = openDataDirectory(disk.path);
    lockOrExplain(directory, "serve").release();
    disk.fill();
    const lock = lockOrExplain(directory, "serve");
    expect(() => lockOrExplain(directory, "serve")).toThrow("in use by another process.");
    lock.release();
    disk.free();
    const next = lockOrExplain(directory, "serve");
    expect(readFileSync(join(disk.path, "allclear.pid"), "utf8")).toContain(String(process.pid));
    next.release();
  });
});
