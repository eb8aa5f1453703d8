import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../../src/db";
import { lockOrExplain, openDataDirectory, tryLock } from "../../src/db/data-directory";
import { startChild } from "../support/child";
import { temporaryFolder } from "../support/temporary-folder";
import { hasTinyDisks, mountTinyDisk } from "../support/tiny-disk";

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
