import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import {
  createFollowedDb,
  isNotReadable,
  isPreparedFollowed,
  prepareFollowed,
  readTxid,
} from "../../src/db/followed-database";
import { closeSqlite } from "../../src/db/open";
import { Problem } from "../../src/base/errors";
import { createTestClock, settle, TEST_START } from "../support/clock";
import { createFile, followedFile, listNumbers } from "../support/followed-file";
import { rejectionOf } from "../support/rejection";
import { temporaryFolder } from "../support/temporary-folder";

let folder: ReturnType<typeof temporaryFolder>;

beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder[Symbol.dispose]());

/** Opens a followed database with one number, settled. */
function openSettled() {
  const clock = createTestClock();
  const file = followedFile(folder.path);
  file.apply(1);
  file.note();
  const db = createFollowedDb(file.path, clock);
  const numbers = () => listNumbers(db, {}).map(({ n }) => n);
  return { clock, file, db, numbers };
}

/** Returns the error of a read. */
function errorOf(read: () => unknown): unknown {
  try {
    read();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("a version of a followed database", () => {
  test("is read by a new connection, though the pages were written past SQLite", async () => {
    const { file, db, numbers } = openSettled();
    expect(numbers()).toEqual([1]);
    const before = db.foreignVersion();
    await settle();

    file.apply(2, TEST_START - 500);
    file.note(TEST_START - 500);

    expect(numbers()).toEqual([2]);
    expect(db.foreignVersion()).toBe(before + 1);
    expect(db.txid()).toBe(2);
    db.close();
  });

  test("keeps its number while nothing changes", async () => {
    const { db } = openSettled();
    const first = db.foreignVersion();
    await settle();
    expect(db.foreignVersion()).toBe(first);
    db.close();
  });

  test("cannot be replaced while a turn of the event loop reads it", async () => {
    const { file, db, numbers } = openSettled();
    const other = new Database(file.path);
    expect(numbers()).toEqual([1]);
    expect(errorOf(() => other.run("BEGIN EXCLUSIVE"))).toMatchObject({ code: "SQLITE_BUSY" });
    await settle();
    other.run("BEGIN EXCLUSIVE");
    expect(isNotReadable(errorOf(numbers))).toBe(true);
    other.run("ROLLBACK");
    expect(numbers()).toEqual([1]);
    closeSqlite(other);
    db.close();
  });
});

describe("a read of a followed database", () => {
  test("is refused for a second when a transaction is applied and not yet noted", async () => {
    const { file, db, numbers } = openSettled();
    numbers();
    await settle();
    file.apply(2, TEST_START - 500);

    const error = errorOf(numbers);

    expect(error).toBeInstanceOf(Problem);
    expect(error).toMatchObject({ code: "unavailable", headers: { "Retry-After": "1" } });
    expect(db.readability()).toMatchObject({ reason: "unsettled", unsettled: 1 });
    db.close();
  });

  test("is repeated until the transaction is noted", async () => {
    const { clock, file, db, numbers } = openSettled();
    file.apply(2, TEST_START - 500);
    const read = Promise.resolve(db.read(numbers));
    await clock.advance(100);
    file.note(TEST_START - 400);
    await clock.advance(5);
    expect(await read).toEqual([2]);
    expect(db.readability()).toMatchObject({ reason: undefined, since: undefined });
    db.close();
  });

  test("is given up after 250 ms", async () => {
    const { clock, file, db, numbers } = openSettled();
    file.apply(2, TEST_START - 500);
    let attempts = 0;
    const read = Promise.resolve(
      db.read(() => {
        attempts += 1;
        return numbers();
      }),
    );
    const rejected = rejectionOf(read);
    await clock.advance(250);
    expect(await rejected).toMatchObject({ code: "unavailable", headers: { "Retry-After": "1" } });
    expect(attempts).toBe(51);
    db.close();
  });

  test("is repeated when a promise of it is rejected for this reason, and not for another", async () => {
    const { clock, file, db, numbers } = openSettled();
    file.apply(2, TEST_START - 500);
    const read = Promise.resolve(db.read(async () => numbers()));
    await settle();
    file.note(TEST_START - 400);
    await clock.advance(5);
    expect(await read).toEqual([2]);
    let attempts = 0;
    const failing = async () => {
      attempts += 1;
      throw new Error("of the caller");
    };
    await expect(Promise.resolve(db.read(failing))).rejects.toThrow("of the caller");
    expect(attempts).toBe(1);
    db.close();
  });

  test("does not wait when its result needs no statement", () => {
    const { file, db } = openSettled();
    file.apply(2, TEST_START - 500);
    expect(db.read(() => "from memory")).toBe("from memory");
    db.close();
  });

  test("trusts equal times only when a later change would have another time", () => {
    const { clock, file, db, numbers } = openSettled();
    file.apply(2, TEST_START);
    file.note(TEST_START);
    expect(isNotReadable(errorOf(numbers))).toBe(true);
    clock.setWallClock(TEST_START + 10);
    expect(numbers()).toEqual([2]);
    db.close();
  });

  test("trusts equal times in the future, since the clock was set back", () => {
    const { clock, db, numbers } = openSettled();
    clock.setWallClock(TEST_START - 3_600_000);
    expect(numbers()).toEqual([1]);
    db.close();
  });

  test("says that the file is missing, and finds it when it appears", () => {
    const clock = createTestClock();
    const file = followedFile(folder.path);
    const db = createFollowedDb(file.path, clock);
    expect(isNotReadable(errorOf(() => listNumbers(db, {})))).toBe(true);
    expect(db.readability()).toMatchObject({ reason: "missing", since: clock.monotonic() });
    expect(db.foreignVersion()).toBe(0);
    file.apply(1);
    file.note();
    expect(listNumbers(db, {})).toEqual([{ n: 1 }]);
    db.close();
  });

  test("uses the other file from the next turn on", async () => {
    const { db, file, numbers } = openSettled();
    const other = followedFile(folder.path, "replica.db.2");
    other.apply(5);
    other.note();
    expect(numbers()).toEqual([1]);
    const moved = db.moveTo(other.path);
    expect(numbers()).toEqual([1]);
    await moved;
    rmSync(file.path);
    expect(numbers()).toEqual([5]);
    expect(db.path).toBe(other.path);
    db.close();
  });
});

test("a followed database rejects writes and copies", async () => {
  const { db } = openSettled();
  expect(await rejectionOf(db.write(() => 1))).toMatchObject({ code: "unavailable" });
  expect(errorOf(() => db.copyTo(join(folder.path, "copy")))).toMatchObject({
    code: "unavailable",
  });
  expect(db.storage()).toEqual({ fault: "read_only", isDamaged: false });
  expect(existsSync(join(folder.path, "copy"))).toBe(false);
  db.close();
});

describe("a restored file", () => {
  test("gets a rollback journal and the note of its transaction", () => {
    const path = join(folder.path, "restored");
    createFile(path, [1]);
    expect(readFileSync(path).subarray(18, 20)).toEqual(Buffer.from([2, 2]));
    expect(isPreparedFollowed(path)).toBe(false);
    prepareFollowed(path, 0x1f);
    expect(readFileSync(path).subarray(18, 20)).toEqual(Buffer.from([1, 1]));
    expect(readFileSync(`${path}-txid`, "utf8")).toBe("000000000000001f\n");
    expect(readTxid(path)).toBe(31);
    expect(isPreparedFollowed(path)).toBe(true);
  });

  test("of another program is refused", () => {
    const path = join(folder.path, "restored");
    const sqlite = new Database(path);
    sqlite.run("CREATE TABLE a (b)");
    closeSqlite(sqlite);
    expect(() => prepareFollowed(path, 1)).toThrow("another program's database");
  });

  test("without a valid note is not used", () => {
    const path = join(folder.path, "restored");
    createFile(path, [1]);
    prepareFollowed(path, 1);
    utimesSync(path, 1, 1);
    expect(isPreparedFollowed(path)).toBe(true);
    rmSync(`${path}-txid`);
    expect(isPreparedFollowed(path)).toBe(false);
  });
});
