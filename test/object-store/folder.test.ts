import { afterAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { tryFileLock } from "../../src/db/data-directory";
import { openObjectStore } from "../../src/object-store/open";
import { systemClock } from "../../src/base/clock";
import { createTestClock } from "../support/clock";
import { describeStoreContract } from "../support/fleet/store-contract";
import { temporaryFolder } from "../support/temporary-folder";
import { until } from "../support/until";

const folders: Disposable[] = [];
afterAll(() => folders.forEach((folder) => folder[Symbol.dispose]()));

function emptyFolder(): string {
  const folder = temporaryFolder();
  folders.push(folder);
  return join(folder.path, "store");
}

const openFolder = (path: string, clock = systemClock()) =>
  openObjectStore({ kind: "folder", path }, undefined, { clock });

describeStoreContract("a folder", async () => openFolder(emptyFolder()));

describe("a folder of objects", () => {
  const ONE = Buffer.from("1");

  test("the name of the store is its address", () => {
    expect(openFolder("/var/backups").name).toBe("file:///var/backups");
  });

  test("folders that lose their last object are removed, but not the top", async () => {
    const path = emptyFolder();
    const store = openFolder(path);
    await store.put("a/b/c", ONE);
    await store.put("a/d", ONE);
    await store.remove(["a/b/c"]);
    expect(readdirSync(path, { recursive: true })).toEqual(["a", "a/d"]);
    await store.remove(["a/d"]);
    expect(existsSync(path)).toBe(true);
    expect(readdirSync(path)).toEqual([]);
  });

  test("a list by prefix reads no folder beside it, such as lost+found of a disk", async () => {
    const path = emptyFolder();
    const store = openFolder(path);
    await store.put("backup-1", ONE);
    const unreadable = join(path, "lost+found");
    mkdirSync(unreadable, { mode: 0o700 });
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chmodSync(dirname(path), 0o755);
    else chmodSync(unreadable, 0);
    try {
      if (isRoot) process.seteuid?.(65_534);
      expect((await store.list("backup-")).map(({ key }) => key)).toEqual(["backup-1"]);
      await expect(store.list("")).rejects.toThrow("EACCES");
    } finally {
      if (isRoot) process.seteuid?.(0);
      chmodSync(unreadable, 0o700);
    }
  });

  test("links and unfinished files are not listed, and old unfinished files are removed", async () => {
    const path = emptyFolder();
    const store = openFolder(path);
    await store.put("a/b", ONE);
    symlinkSync("/etc/hostname", join(path, "link"));
    writeFileSync(join(path, "a/.allclear-old"), "");
    writeFileSync(join(path, "a/.allclear-new"), "");
    utimesSync(join(path, "a/.allclear-old"), 1, 1);
    expect((await store.list("")).map(({ key }) => key)).toEqual(["a/b"]);
    expect(readdirSync(join(path, "a")).toSorted()).toEqual([".allclear-new", "b"]);
    await expect(store.put("a/.allclear-x", ONE)).rejects.toThrow("A key begins with");
  });

  test("an object that cannot be removed keeps no other from being removed", async () => {
    const path = emptyFolder();
    const store = openFolder(path);
    await store.put("b", ONE);
    symlinkSync("loop", join(path, "loop"));
    await expect(store.remove(["loop/a", "b"])).rejects.toThrow(/\(ELOOP: .*\): remove loop\/a\./);
    expect(await store.get("b")).toBeUndefined();
  });

  test("a folder with the name of an object is not an object", async () => {
    const path = emptyFolder();
    const store = openFolder(path);
    await store.put("a/b", ONE);
    expect(await store.get("a")).toBeUndefined();
    expect(await store.download("a", join(path, "copy"))).toBeUndefined();
    expect(await store.get("a/b/c")).toBeUndefined();
    await store.remove(["a", "a/b/c"]);
    expect((await store.get("a/b"))?.bytes).toEqual(ONE);
    await expect(store.put("a", ONE)).rejects.toThrow(
      /^The store file:\S+ failed \(\w+: [a-z ]+\): write a\.$/,
    );
    await expect(store.put("a/b/c", ONE)).rejects.toMatchObject({ kind: "unreachable" });
    expect(readdirSync(path)).toEqual(["a"]);
  });

  test("a write that fails leaves no unfinished file", async () => {
    const path = emptyFolder();
    const store = openFolder(path);
    mkdirSync(join(path, "a/b"), { recursive: true });
    await expect(store.put("a", ONE, { ifNoneMatch: true })).rejects.toThrow("EISDIR");
    expect(await store.put("c", ONE, { ifMatch: '"x"' })).toBe("changed");
    expect(readdirSync(path).filter((name) => name !== ".allclear-lock")).toEqual(["a"]);
  });

  test("a folder that cannot be written is reported without its content", async () => {
    if (process.getuid?.() === 0) return;
    const path = emptyFolder();
    mkdirSync(path);
    chmodSync(path, 0o500);
    await expect(openFolder(path).put("a", ONE)).rejects.toThrow("EACCES");
  });

  test("an error of the file system is reported by its code and its text", async () => {
    const path = emptyFolder();
    writeFileSync(path, "");
    await expect(openFolder(path).put("a", ONE)).rejects.toThrow(
      `The store file://${path} failed (EEXIST: file already exists): write a.`,
    );
  });

  test("a conditional write fails while another process holds the lock", async () => {
    const path = emptyFolder();
    const store = openFolder(path);
    await store.put("a", ONE);
    const lock = tryFileLock(join(path, ".allclear-lock"));
    await expect(store.put("a", Buffer.from("2"), { ifMatch: '"x"' })).rejects.toThrow("EBUSY");
    lock?.close(true);
    expect((await store.get("a"))?.bytes).toEqual(ONE);
  });

  test("each part of a long list has its own deadline", async () => {
    const path = emptyFolder();
    mkdirSync(path);
    for (let index = 0; index < 1_001; index += 1) writeFileSync(join(path, `${index}`), "");
    const clock = createTestClock();
    const limits: number[] = [];
    const counting = {
      ...clock,
      after(ms: number, then: () => void) {
        limits.push(ms);
        return clock.after(ms, then);
      },
    };
    expect(await openFolder(path, counting).list("")).toHaveLength(1_001);
    expect(limits).toEqual([10_000, 10_000, 10_000, 10_000]);
  });

  test("a write that passes its deadline fails, and changes nothing later", async () => {
    const path = emptyFolder();
    const clock = createTestClock();
    const store = openFolder(path, clock);
    const writing = store.put("a", ONE);
    // The file system has had no turn to answer yet.
    void clock.advance(10_000);
    await expect(writing).rejects.toMatchObject({
      kind: "timeout",
      message: `The store file://${path} did not answer within 10 s: write a.`,
    });
    // The write ends with the removal of its unfinished file.
    await until(() => existsSync(path) && readdirSync(path).length === 0);
    expect(await store.get("a")).toBeUndefined();
  });
});
