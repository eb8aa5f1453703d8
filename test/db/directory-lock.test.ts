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
import { OperatorError } from "../../src/db/errors";
import { lockOrExplain, openDataDirectory, tryLock } from "../../src/db/data-directory";
import { migrate, MIGRATIONS } from "../../src/db/migrations";
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
  test("the lock is held by one process, and another gets its process id and command", async () => {
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

  test("kill -9 releases the lock, and the next holder is named", async () => {
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

  test("releasing the lock removes the note about its holder", async () => {
    using folder = temporaryFolder();
    const directory = openDataDirectory(folder.path);
    lockOrExplain(directory, "serve").release();
    expect(existsSync(join(folder.path, "allclear.pid"))).toBe(false);
    await using child = startChild("hold-directory.ts", folder.path, "serve");
    expect(await child.line()).toBe("held");
  });

  test("the lock survives garbage collection", async () => {
    using folder = temporaryFolder();
    const directory = openDataDirectory(folder.path);
    await using child = startChild("hold-directory.ts", folder.path, "serve");
    expect(await child.line()).toBe("held");
    child.send("collect");
    expect(await child.line()).toBe("collected");
    expect(tryLock(directory, "serve")).toBeUndefined();
  });

  test("the lock is exclusive within a process and not lost by a second attempt", () => {
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

  test("the lock is held and reported even if the note about its holder cannot be read", async () => {
    using folder = temporaryFolder();
    const directory = openDataDirectory(folder.path);
    const lock = lockOrExplain(directory, "serve");
    for (const note of ["", "null", "{"]) {
      writeFileSync(join(folder.path, "allclear.pid"), note);
      expect(() => lockOrExplain(directory, "serve")).toThrow("in use by another process.");
    }
    lock.release();
  });

  test("a symbolic link to the database in another folder has the same lock", async () => {
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

  test("the lock is rejected while a server uses the database by a hard link, and available afterwards", async () => {
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

  test("SQLite's lock on the database survives an upgrade, which reads the file for its copy", async () => {
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

  test("two links in one folder to two databases have separate locks", () => {
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

  test("the lock of one folder does not block another", () => {
    using one = temporaryFolder();
    using two = temporaryFolder();
    const first = lockOrExplain(openDataDirectory(one.path), "serve");
    const second = lockOrExplain(openDataDirectory(two.path), "serve");
    first.release();
    second.release();
  });
});

describe.skipIf(!hasTinyDisks())("the lock of a data directory on a full disk", () => {
  test("the lock can be taken on a full disk, although no note can be written", () => {
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
