import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createLogFetcher, logFilePath } from "../../../src/fleet/follow/log-fetcher";
import type { ObjectStore } from "../../../src/object-store/object-store";
import { openObjectStore } from "../../../src/object-store/open";
import { createTestClock, TEST_START } from "../../support/clock";
import { temporaryFolder } from "../../support/temporary-folder";

const PREFIX = "term-000001-1";

/** Opens a log in a folder as a store, and a fetcher of it. */
function openLog() {
  const folder = temporaryFolder();
  const clock = createTestClock();
  const root = join(folder.path, "store");
  mkdirSync(root);
  const store = openObjectStore({ kind: "folder", path: root }, undefined, { clock });
  const copy = join(folder.path, "copy");
  const pathOf = (level: number, min: number, max: number) =>
    logFilePath({ level, min, max, size: 0 });
  const open = (changed: Partial<ObjectStore> = {}) =>
    createLogFetcher(
      {
        store: { ...store, ...changed },
        clock,
        levelPrefix: (prefix, level) => `${prefix}/ltx/${level}/`,
      },
      PREFIX,
      copy,
    );
  return {
    [Symbol.dispose]: () => folder[Symbol.dispose](),
    store,
    copy,
    open,
    clock,
    pathOf,
    add(level: number, min: number, max = min) {
      const path = join(root, PREFIX, pathOf(level, min, max));
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `level ${level}, ${min} to ${max}`);
    },
    remove: (level: number, min: number, max = min) =>
      rmSync(join(root, PREFIX, pathOf(level, min, max))),
    /** Returns the files of the copy as [level, last digits of their transactions]. */
    copied: () =>
      Array.from({ length: 10 }, (_, level) => {
        const names = existsSync(join(copy, `ltx/${level}`))
          ? readdirSync(join(copy, `ltx/${level}`))
          : [];
        return names.sort().map((name) => `${level}:${name.replaceAll(/0{8,}|\.ltx/g, "")}`);
      }).flat(),
  };
}

describe("the first copy of a log", () => {
  test("has what a restore needs, and no file that a merged one replaces", async () => {
    using log = openLog();
    log.add(9, 1, 4);
    for (let txid = 1; txid <= 9; txid++) log.add(0, txid);
    log.add(1, 1, 3);
    log.add(1, 4, 7);
    const fetcher = log.open();
    await fetcher.fetchLevels(0);
    expect(await fetcher.fetchNew(0)).toMatchObject({ startedAt: TEST_START, newest: 9 });
    expect(log.copied()).toEqual(["0:8-8", "0:9-9", "1:4-7", "9:1-4"]);
    expect(fetcher.plan().at(-1)?.max).toBe(9);
    expect(readFileSync(join(log.copy, log.pathOf(1, 4, 7)), "utf8")).toBe("level 1, 4 to 7");
  });

  test("needs a beginning", async () => {
    using log = openLog();
    log.add(0, 2);
    const fetcher = log.open();
    await fetcher.fetchLevels(0);
    await fetcher.fetchNew(0);
    expect(fetcher.plan()).toEqual([]);
    expect(log.copied()).toEqual([]);
  });

  test("finds the files of an earlier run, and removes unfinished ones", async () => {
    using log = openLog();
    log.add(9, 1, 4);
    await log.open().fetchLevels(0);
    writeFileSync(join(log.copy, `${log.pathOf(0, 5, 5)}.part`), "half");
    const downloads: string[] = [];
    const fetcher = log.open({
      download(key, file) {
        downloads.push(key);
        return log.store.download(key, file);
      },
    });
    log.add(0, 5);
    await fetcher.fetchLevels(4);
    await fetcher.fetchNew(4);
    expect(log.copied()).toEqual(["0:5-5", "9:1-4"]);
    expect(downloads).toHaveLength(1);
  });
});

describe("a copy that is kept up to date", () => {
  test("gets each new file, and loses those that are applied and merged", async () => {
    using log = openLog();
    log.add(9, 1, 4);
    log.add(0, 5);
    log.add(0, 6);
    const fetcher = log.open();
    await fetcher.fetchLevels(0);
    await fetcher.fetchNew(0);
    log.add(0, 7);
    expect((await fetcher.fetchNew(6)).newest).toBe(7);
    expect(log.copied()).toEqual(["0:5-5", "0:6-6", "0:7-7", "9:1-4"]);
    log.add(1, 5, 6);
    await fetcher.fetchLevels(6);
    expect(log.copied()).toEqual(["0:7-7", "1:5-6", "9:1-4"]);
    expect(fetcher.reach(6)).toBe(7);
  });

  test("keeps what is not applied when a new whole database has it", async () => {
    using log = openLog();
    log.add(9, 1, 4);
    const fetcher = log.open();
    await fetcher.fetchLevels(0);
    log.add(0, 5);
    log.add(0, 6);
    log.add(9, 1, 6);
    await fetcher.fetchLevels(4);
    await fetcher.fetchNew(4);
    expect(log.copied()).toEqual(["0:5-5", "0:6-6", "9:1-6"]);
    await fetcher.fetchLevels(6);
    expect(log.copied()).toEqual(["9:1-6"]);
  });

  test("notices a hole, and gets a file that fills it later", async () => {
    using log = openLog();
    log.add(9, 1, 4);
    const fetcher = log.open();
    await fetcher.fetchLevels(0);
    log.add(0, 6);
    await fetcher.fetchNew(4);
    expect(fetcher.hasHole(4)).toBe(true);
    expect(fetcher.reach(4)).toBe(4);
    log.add(0, 5);
    await fetcher.fetchNew(4);
    expect(fetcher.hasHole(4)).toBe(false);
    expect(fetcher.reach(4)).toBe(6);
  });

  test("gets twenty files at once, so that the follower notes what it has applied", async () => {
    using log = openLog();
    log.add(9, 1, 4);
    const fetcher = log.open();
    await fetcher.fetchLevels(0);
    for (let txid = 5; txid <= 34; txid++) log.add(0, txid);
    expect(await fetcher.fetchNew(4)).toMatchObject({ newest: 34, isPartial: true });
    expect(fetcher.reach(4)).toBe(24);
    expect(await fetcher.fetchNew(4)).toMatchObject({ isPartial: true });
    expect(fetcher.reach(4)).toBe(24);
    expect(await fetcher.fetchNew(20)).toMatchObject({ isPartial: false });
    expect(fetcher.reach(4)).toBe(34);
  });

  test("gets a merged file instead of one that has gone", async () => {
    using log = openLog();
    log.add(9, 1, 4);
    const fetcher = log.open();
    await fetcher.fetchLevels(0);
    log.add(0, 6);
    log.add(1, 5, 6);
    await fetcher.fetchNew(4);
    await fetcher.fetchLevels(4);
    expect(log.copied()).toEqual(["1:5-6", "9:1-4"]);
    expect(fetcher.reach(4)).toBe(6);
  });
});

describe("a download that fails", () => {
  test("leaves no file when bytes are missing, and succeeds later", async () => {
    using log = openLog();
    log.add(9, 1, 4);
    log.add(0, 5);
    let isCut = true;
    const fetcher = log.open({
      async download(key, file) {
        const found = await log.store.download(key, file);
        return found && isCut ? { ...found, size: found.size - 1 } : found;
      },
    });
    await expect(fetcher.fetchLevels(0)).rejects.toThrow("bytes of term-000001-1/ltx/9/");
    expect(log.copied()).toEqual([]);
    isCut = false;
    await fetcher.fetchLevels(0);
    expect(log.copied()).toEqual(["9:1-4"]);
  });

  test("keeps the others, and is repeated", async () => {
    using log = openLog();
    log.add(9, 1, 4);
    for (let txid = 5; txid <= 20; txid++) log.add(0, txid);
    let isFailing = true;
    const fetcher = log.open({
      download: (key, file) =>
        isFailing && key.includes("000a-")
          ? Promise.reject(new Error("no connection"))
          : log.store.download(key, file),
    });
    await fetcher.fetchLevels(0);
    await expect(fetcher.fetchNew(0)).rejects.toThrow("no connection");
    expect(fetcher.reach(4)).toBe(9);
    isFailing = false;
    await fetcher.fetchNew(4);
    expect(fetcher.reach(4)).toBe(20);
  });

  test("forgets a file that has gone since the listing", async () => {
    using log = openLog();
    log.add(9, 1, 4);
    log.add(0, 5);
    const fetcher = log.open({
      async download(key, file) {
        if (key.includes("/0/")) log.remove(0, 5);
        return log.store.download(key, file);
      },
    });
    await fetcher.fetchLevels(0);
    await fetcher.fetchNew(4);
    expect(log.copied()).toEqual(["9:1-4"]);
    expect(fetcher.hasHole(4)).toBe(true);
  });
});
