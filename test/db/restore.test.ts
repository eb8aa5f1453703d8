import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { spawnSync } from "node:child_process";
import { open } from "node:fs/promises";
import { basename, join } from "node:path";
import { OperatorError } from "../../src/db/errors";
import { copyBeforeUpgrade, copyDatabase, copyDatabaseFiles } from "../../src/db/copies";
import { removeUnfinishedRestore } from "../../src/db/database-files";
import { isSound, openSqlite, walOf } from "../../src/db/open";
import { type DataDirectory, lockOrExplain, openDataDirectory } from "../../src/db/data-directory";
import { migrate, SCHEMA_VERSION } from "../../src/db/migrations";
import { restoreDatabase } from "../../src/db/restore";
import { openForCommand, openForServer } from "../../src/installation";
import { commandLine } from "../support/command-line";
import { testConfig } from "../support/app";
import { startChild } from "../support/child";
import { committedNotes, makeDatabase } from "../support/database";
import { temporaryFolder } from "../support/temporary-folder";

interface Place extends Disposable {
  folder: string;
  directory: DataDirectory;
  backup: string;
}

// Made once: every commit waits for the disk.
const templates = temporaryFolder();
afterAll(() => templates[Symbol.dispose]());
const PRESENT = join(templates.path, "present.db");
const BACKUP = join(templates.path, "backup.db");
makeDatabase(PRESENT, "present");
makeDatabase(join(templates.path, "source.db"), "past");
{
  using sqlite = openSqlite(join(templates.path, "source.db"), 0);
  copyDatabase(sqlite, BACKUP);
}

/** A data directory whose database says "present", and a backup of one that said "past". */
function place(): Place {
  const temporary = temporaryFolder();
  const folder = temporary.path;
  const directory = openDataDirectory(join(folder, "data"));
  const backup = join(folder, "backup.db");
  copyFileSync(PRESENT, directory.database);
  copyFileSync(BACKUP, backup);
  return { folder, directory, backup, [Symbol.dispose]: () => temporary[Symbol.dispose]() };
}

/** Changes a backup as SQLite would, and leaves it one file without a digest. */
function alter(file: string, ...statements: string[]): void {
  {
    using sqlite = new Database(file, { readwrite: true, create: false });
    for (const statement of statements) sqlite.run(statement);
  }
  truncateSync(file, Math.floor(statSync(file).size / 512) * 512);
}

/** SQLite does not write a log into a file that lacks 64 KiB more than the size of the log. */
const TOO_MANY_LOST_BYTES = 300_000;

const CRASHED = [
  { name: "an undamaged database", lostBytes: 0 },
  { name: "a damaged database with a log that can be written into it", lostBytes: 50_000 },
  {
    name: "a damaged database with a log that cannot be written into it",
    lostBytes: TOO_MANY_LOST_BYTES,
  },
];

/** Adds a note to a database, in its log, leaves both as after a crash and cuts off the database's end. */
function crash({ database }: DataDirectory, lostBytes: number): void {
  let files: [string, Buffer][];
  {
    using sqlite = openSqlite(database, 0);
    sqlite.run("INSERT INTO notes VALUES ('in the log')");
    // Before closing, which writes the log into the database.
    files = [database, walOf(database)].map((file) => [file, readFileSync(file)]);
  }
  for (const [file, bytes] of files) writeFileSync(file, bytes);
  truncateSync(database, statSync(database).size - lostBytes);
}

/** Describes a database and its log as an opening and closing leaves them. Uses a copy. */
function describeClosed(database: string): string[] {
  using temporary = temporaryFolder();
  const copy = join(temporary.path, "copy.db");
  copyDatabaseFiles(database, copy);
  try {
    openSqlite(copy, 0).close(true);
  } catch (error) {
    expect((error as Error).message).toContain("it is damaged");
  }
  return ["", "-wal"].map((suffix) => {
    if (!existsSync(copy + suffix)) return `no ${suffix}`;
    const bytes = readFileSync(copy + suffix);
    return `${suffix} of ${bytes.length} bytes with the hash ${Bun.hash(bytes)}`;
  });
}

/**
 * Restores the backup, or without one removes an unfinished restore. Returns the data directories that a kill
 * before each change would leave, in their order, and at last the one without a kill. See `restore-steps.ts`.
 */
async function directoriesOfSteps(at: Place, backup?: string): Promise<string[]> {
  const copies = join(at.folder, "copies");
  mkdirSync(copies);
  const args = [at.directory.path, copies, ...(backup === undefined ? [] : [backup])];
  await using child = startChild("restore-steps.ts", ...args);
  expect(await child.line()).toBe("done");
  const names = readdirSync(copies).toSorted();
  return [...names.map((name) => join(copies, name)), at.directory.path];
}

/** Removes an unfinished restore as a start does. Returns the database and the kept one, if there is one. */
function start(path: string): { database: string; kept: string | undefined; names: string[] } {
  const directory = openDataDirectory(path);
  expect(existsSync(directory.database)).toBe(true);
  const lock = lockOrExplain(directory, "serve");
  removeUnfinishedRestore(directory);
  lock.release();
  const names = readdirSync(path);
  expect(names.filter((name) => name.includes("restoring"))).toEqual([]);
  const kept = names.find((name) => /before-restore-.*Z$/.test(name));
  return { database: directory.database, kept: kept && join(path, kept), names };
}

describe("restoring", () => {
  test("a restore replaces the database by the backup and keeps the old file", () => {
    using at = place();
    const { kept } = restoreDatabase(at.directory, at.backup);
    expect(committedNotes(at.directory.database)).toEqual(["past"]);
    expect(basename(kept ?? "")).toMatch(/^allclear\.db\.before-restore-/);
    expect(committedNotes(kept ?? "")).toEqual(["present"]);
    expect(committedNotes(at.backup)).toEqual(["past"]);
    using restored = openSqlite(at.directory.database, 0);
    expect(migrate(restored, at.directory)).toMatchObject({ from: SCHEMA_VERSION });
  });

  test("a restore keeps what was still in the old database's log", async () => {
    using at = place();
    {
      await using writer = startChild("store-notes.ts", at.directory.database);
      await writer.line();
      await writer.kill();
    }
    expect(existsSync(`${at.directory.database}-wal`)).toBe(true);
    const { kept } = restoreDatabase(at.directory, at.backup);
    expect(existsSync(`${kept}-wal`)).toBe(false);
    expect(committedNotes(kept ?? "")).toContain("1 second");
    expect(committedNotes(at.directory.database)).toEqual(["past"]);
  });

  test("a restore works without an existing database", () => {
    using at = place();
    const empty = openDataDirectory(join(at.folder, "elsewhere"));
    expect(restoreDatabase(empty, at.backup).kept).toBeUndefined();
    expect(committedNotes(empty.database)).toEqual(["past"]);
  });

  test("a restore works over a database damaged beyond opening, and keeps that file", () => {
    using at = place();
    writeFileSync(at.directory.database, "ruined ".repeat(1_000));
    const { kept } = restoreDatabase(at.directory, at.backup);
    expect(committedNotes(at.directory.database)).toEqual(["past"]);
    expect(readFileSync(kept ?? "", "utf8")).toStartWith("ruined ");
  });

  test("a restore never replays an old log over the restored database", async () => {
    using at = place();
    const directory = openDataDirectory(join(at.folder, "elsewhere"));
    // Of the same origin, so that the pages in its log would fit the restored database.
    copyFileSync(at.backup, directory.database);
    {
      await using writer = startChild("store-notes.ts", directory.database);
      await writer.line();
      await writer.kill();
    }
    unlinkSync(directory.database);
    expect(existsSync(`${directory.database}-wal`)).toBe(true);
    restoreDatabase(directory, at.backup);
    expect(committedNotes(directory.database)).toEqual(["past"]);
  });

  test("a restore of a copied database includes its log", async () => {
    using at = place();
    const copied = join(at.folder, "copied.db");
    makeDatabase(copied, "in the file");
    {
      await using writer = startChild("store-notes.ts", copied);
      await writer.line();
      await writer.kill();
    }
    restoreDatabase(at.directory, copied);
    expect(committedNotes(at.directory.database)).toContain("1 second");
    expect(existsSync(`${copied}-wal`)).toBe(true);
  });

  test("a killed restore leaves the database as it was, and the next start removes its copy", async () => {
    using at = place();
    const pipe = join(at.folder, "backup.pipe");
    expect(spawnSync("mkfifo", [pipe]).status).toBe(0);
    const restoring = startChild("restore.ts", at.directory.path, pipe);
    const sending = await open(pipe, "w");
    await sending.write(readFileSync(at.backup).subarray(0, 20_000));
    await restoring.kill();
    await sending.close();
    const leftovers = () =>
      readdirSync(at.directory.path).filter((name) => name.includes("restor"));
    expect(leftovers()).toEqual([expect.stringContaining("allclear.db.restoring-")]);
    const env = { ALLCLEAR_DATA_DIR: at.directory.path, ALLCLEAR_LOG_LEVEL: "silent" };
    openForServer(testConfig(env)).close();
    expect(leftovers()).toEqual([]);
    expect(committedNotes(at.directory.database)).toEqual(["present"]);
  });

  test.each(CRASHED)(
    "a restore over $name, killed before any change, leaves either the old database with its log or the restored one",
    async ({ lostBytes }) => {
      using at = place();
      crash(at.directory, lostBytes);
      const old = describeClosed(at.directory.database);
      const outcomes: string[] = [];
      for (const path of await directoriesOfSteps(at, at.backup)) {
        const { database, kept, names } = start(path);
        if (kept !== undefined) expect(committedNotes(database)).toEqual(["past"]);
        const closed = describeClosed(kept ?? database);
        expect({ path, names, closed }).toEqual({ path, names, closed: old });
        outcomes.push(kept === undefined ? "old" : "restored");
      }
      expect(outcomes.length).toBeGreaterThan(10);
      expect(new Set(outcomes)).toEqual(new Set(["old", "restored"]));
    },
  );

  test("the removal of an unfinished restore, killed before any change, is completed by the next start", async () => {
    using at = place();
    crash(at.directory, TOO_MANY_LOST_BYTES);
    const old = describeClosed(at.directory.database);
    const directories = await directoriesOfSteps(at, at.backup);
    const beforeLastRename = directories.findLast((path) => path.endsWith(" renameSync")) ?? "";
    using again = place();
    rmSync(again.directory.path, { recursive: true });
    renameSync(beforeLastRename, again.directory.path);
    for (const path of await directoriesOfSteps(again)) {
      const { database, names } = start(path);
      expect(names.filter((name) => name.includes("before-restore"))).toEqual([]);
      expect({ path, names, closed: describeClosed(database) }).toEqual({
        path,
        names,
        closed: old,
      });
    }
  });

  test("the second name of the replaced database and its log are on the disk before the first is reused", async () => {
    using at = place();
    crash(at.directory, TOO_MANY_LOST_BYTES);
    const directories = await directoriesOfSteps(at, at.backup);
    const changes = directories.map((path) => path.split(" ").at(-1)).join(" ");
    expect(changes).toMatch(
      /linkSync( renameSync)+ openSync fsyncSync renameSync openSync fsyncSync/,
    );
  });

  test("no command can use the database that a restore replaces", async () => {
    using at = place();
    const pipe = join(at.folder, "backup.pipe");
    expect(spawnSync("mkfifo", [pipe]).status).toBe(0);
    await using restoring = startChild("restore.ts", at.directory.path, pipe);
    const sending = await open(pipe, "w");
    const env = { ALLCLEAR_DATA_DIR: at.directory.path, ALLCLEAR_LOG_LEVEL: "silent" };
    const revoke = () => openForCommand(testConfig(env), "key revoke", { canCreate: false });
    expect(revoke).toThrow(`in use by process ${restoring.pid} (allclear restore)`);
    await sending.writeFile(readFileSync(at.backup));
    await sending.close();
    expect(await restoring.line()).toBe("restored");
    revoke().close();
  });

  test("a restore is rejected while another process reads the database", () => {
    using at = place();
    using reader = new Database(at.directory.database);
    using writer = new Database(at.directory.database);
    reader.run("BEGIN");
    reader.prepare("SELECT count(*) FROM notes").get();
    writer.run("INSERT INTO notes VALUES ('in the log')");
    const restore = () => restoreDatabase(at.directory, at.backup, { busyTimeoutMs: 0 });
    expect(restore).toThrow(`Another process is using ${at.directory.database}.`);
    expect(readdirSync(at.directory.path).toSorted()).toEqual([
      "allclear.db",
      "allclear.db-shm",
      "allclear.db-wal",
    ]);
    reader.run("COMMIT");
    const { kept } = restore();
    expect(committedNotes(kept ?? "")).toEqual(["in the log", "present"]);
  });

  test("a restore is rejected while another process has locked the database", () => {
    using at = place();
    using other = new Database(at.directory.database);
    other.run("PRAGMA locking_mode = EXCLUSIVE");
    other.run("INSERT INTO notes VALUES ('by the other process')");
    const restore = () => restoreDatabase(at.directory, at.backup, { busyTimeoutMs: 0 });
    expect(restore).toThrow(`Another process is using ${at.directory.database}.`);
    expect(readdirSync(at.directory.path)).not.toContainEqual(expect.stringContaining("restor"));
    other.close(true);
    const { kept } = restore();
    expect(committedNotes(kept ?? "")).toEqual(["by the other process", "present"]);
  });

  test("an unfinished restore cannot be read by other users, even if the backup can", async () => {
    using at = place();
    const bytes = readFileSync(at.backup);
    const pipe = join(at.folder, "backup.pipe");
    expect(spawnSync("mkfifo", ["-m", "666", pipe]).status).toBe(0);
    await using restoring = startChild("restore.ts", at.directory.path, pipe);
    // Opening waits until the restore opens the other end.
    const sending = await open(pipe, "w");
    const names = readdirSync(at.directory.path);
    const unfinished = names.find((name) => name.startsWith("allclear.db.restoring-")) ?? "";
    const mode = statSync(join(at.directory.path, unfinished)).mode & 0o777;
    await sending.writeFile(bytes);
    await sending.close();
    expect(await restoring.line()).toBe("restored");
    expect(mode.toString(8)).toBe("600");
    expect(committedNotes(at.directory.database)).toEqual(["past"]);
  });

  test("a restored database can be written even if the backup is read-only", () => {
    using at = place();
    chmodSync(at.backup, 0o444);
    restoreDatabase(at.directory, at.backup);
    expect(statSync(at.directory.database).mode & 0o777).toBe(0o640);
  });
});

test("an error while carrying over credentials is not reported as damage, and nothing is replaced", () => {
  using at = place();
  alter(
    at.backup,
    "CREATE TRIGGER failing BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'a defect'); END",
  );
  const restore = () => restoreDatabase(at.directory, at.backup);
  expect(restore).toThrow("a defect");
  expect(restore).not.toThrow(OperatorError);
  expect(readdirSync(at.directory.path)).toEqual(["allclear.db"]);
  expect(committedNotes(at.directory.database)).toEqual(["present"]);
});

interface Unfit {
  name: string;
  /** Makes the file, from a good backup, and answers its name. */
  make(at: Place): string;
  message: string;
}

const UNFIT: Unfit[] = [
  {
    name: "a file that is not there",
    make: (at) => join(at.folder, "missing.db"),
    message: "There is no file ",
  },
  {
    name: "a folder",
    make: (at) => {
      const path = join(at.folder, "folder.db");
      mkdirSync(path);
      return path;
    },
    message: "could not be copied: ",
  },
  {
    name: "an empty file",
    make: (at) => {
      writeFileSync(join(at.folder, "empty.db"), "");
      return join(at.folder, "empty.db");
    },
    message: "is not an Allclear database.",
  },
  {
    name: "text",
    make: (at) => {
      writeFileSync(join(at.folder, "notes.txt"), "Remember the milk. ".repeat(500));
      return join(at.folder, "notes.txt");
    },
    message: "is not an Allclear database, or it is damaged.",
  },
  {
    name: "a backup that lost its end",
    make: (at) => {
      const bytes = readFileSync(at.backup);
      writeFileSync(at.backup, bytes.subarray(0, bytes.length / 2));
      return at.backup;
    },
    message: "damaged",
  },
  {
    name: "a backup with a page of garbage",
    make: (at) => {
      const bytes = readFileSync(at.backup);
      const pageBytes = bytes.readUInt16BE(16);
      bytes.fill(0xa5, bytes.length - pageBytes);
      writeFileSync(at.backup, bytes);
      return at.backup;
    },
    message: "damaged",
  },
  {
    name: "a backup with broken foreign keys",
    make: (at) => {
      alter(
        at.backup,
        "PRAGMA foreign_keys = OFF",
        "INSERT INTO page_slugs (slug, page_id, created_at) VALUES ('a', 'nobody', 0)",
      );
      return at.backup;
    },
    message: "is damaged.",
  },
  {
    name: "another program's database",
    make: (at) => {
      alter(at.backup, "PRAGMA application_id = 1234");
      return at.backup;
    },
    message: "is not an Allclear database.",
  },
  {
    name: "a backup of a newer schema",
    make: (at) => {
      const newer = SCHEMA_VERSION + 1;
      alter(at.backup, `INSERT INTO schema_migrations VALUES (${newer}, 'newer', 'unknown', 0, 0)`);
      return at.backup;
    },
    message: `has schema version ${SCHEMA_VERSION + 1}, this Allclear knows ${SCHEMA_VERSION}.`,
  },
  {
    name: "a backup of a build with other migrations",
    make: (at) => {
      alter(at.backup, "UPDATE schema_migrations SET checksum = 'other' WHERE number = 1");
      return at.backup;
    },
    message: "was made with another migration 1 ",
  },
];

describe.each(UNFIT)("restoring $name", ({ make, message }) => {
  test("the restore is rejected, naming the file, and the database is not changed", () => {
    using at = place();
    const file = make(at);
    const before = readFileSync(at.directory.database);
    const names = readdirSync(at.directory.path);
    const restore = () => restoreDatabase(at.directory, file);
    expect(restore).toThrow(OperatorError);
    expect(restore).toThrow(message);
    expect(restore).toThrow(file);
    expect(readFileSync(at.directory.database).equals(before)).toBe(true);
    expect(readdirSync(at.directory.path)).toEqual(names);
    expect(committedNotes(at.directory.database)).toEqual(["present"]);
  });
});

/** Damages of a backup: bytes from an offset that are changed, added or removed. Offsets below 0 count from the end. */
const DAMAGES: {
  name: string;
  at: number;
  bytes: number;
  kind: "invert" | "flip" | "cut" | "add";
}[] = [
  { name: "one bit of the magic of SQLite", at: 0, bytes: 1, kind: "flip" },
  { name: "one bit of the page size", at: 16, bytes: 1, kind: "flip" },
  { name: "one bit of the number of pages", at: 31, bytes: 1, kind: "flip" },
  { name: "one bit of an unused field of the header", at: 75, bytes: 1, kind: "flip" },
  { name: "one bit of the digest", at: -10, bytes: 1, kind: "flip" },
  { name: "one bit of the digest's name", at: -70, bytes: 1, kind: "flip" },
  { name: "the line break before the digest", at: -82, bytes: 1, kind: "flip" },
  { name: "the whole digest", at: -82, bytes: 82, kind: "invert" },
  { name: "the end of the last page", at: -114, bytes: 32, kind: "invert" },
  { name: "the last byte, which is missing", at: -1, bytes: 1, kind: "cut" },
  { name: "the last page, which is missing", at: -4_178, bytes: 4_178, kind: "cut" },
  { name: "the second half, which is missing", at: -300_001, bytes: 300_001, kind: "cut" },
  { name: "a line break that was added", at: -1, bytes: 1, kind: "add" },
  ...Array.from({ length: 200 }, (_, index) => {
    // Spread over the file, and at every position within a page.
    const at = Math.floor((index / 200) * (statSync(BACKUP).size - 200)) + ((index * 97) % 64);
    return index % 2 === 0
      ? { name: `32 bytes from ${at}`, at, bytes: 32, kind: "invert" as const }
      : { name: `one bit of byte ${at}`, at, bytes: 1, kind: "flip" as const };
  }),
];

describe("the digest of a backup", () => {
  test("a restore rejects each damage of a backup, and changes nothing", () => {
    using at = place();
    const sound = readFileSync(BACKUP);
    const before = readFileSync(at.directory.database);
    const accepted: string[] = [];
    for (const { name, at: offset, bytes, kind } of DAMAGES) {
      const start = offset < 0 ? sound.length + offset : offset;
      let damaged = Buffer.from(sound);
      if (kind === "cut") damaged = damaged.subarray(0, start);
      else if (kind === "add") damaged = Buffer.concat([damaged, Buffer.alloc(bytes, "\n")]);
      else {
        for (let index = start; index < start + bytes; index++) {
          damaged[index] = (damaged[index] ?? 0) ^ (kind === "invert" ? 0xff : 1 << (index % 8));
        }
      }
      writeFileSync(at.backup, damaged);
      try {
        restoreDatabase(at.directory, at.backup);
        accepted.push(name);
      } catch (error) {
        expect(error).toBeInstanceOf(OperatorError);
        expect((error as Error).message).toContain(at.backup);
        expect((error as Error).message).toMatch(/damaged/);
      }
    }
    expect(accepted).toEqual([]);
    expect(readFileSync(at.directory.database).equals(before)).toBe(true);
  });

  test("an undamaged backup is verified, also under another name and through a pipe", async () => {
    using at = place();
    const renamed = join(at.folder, "of Monday.sqlite");
    copyFileSync(at.backup, renamed);
    expect(restoreDatabase(at.directory, renamed).isVerified).toBe(true);
    const pipe = join(at.folder, "backup.pipe");
    expect(spawnSync("mkfifo", [pipe]).status).toBe(0);
    await using writer = Bun.spawn(["cp", at.backup, pipe]);
    expect(restoreDatabase(at.directory, pipe).isVerified).toBe(true);
    expect(await writer.exited).toBe(0);
    expect(committedNotes(at.directory.database)).toEqual(["past"]);
    // The restored database has no digest, which its first change would make wrong.
    expect(statSync(at.directory.database).size % 4_096).toBe(0);
  });

  test("SQLite, and so earlier versions, can use a backup in spite of its digest", () => {
    using at = place();
    const end = readFileSync(at.backup, "latin1").slice(-82);
    expect(end).toMatch(/^\nallclear-sha256 [\da-f]{64}\n$/);
    using sqlite = openSqlite(at.backup, 0);
    expect(isSound(sqlite)).toBe(true);
    sqlite.run("INSERT INTO notes VALUES (hex(zeroblob(20000)))");
    sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
    expect(isSound(sqlite)).toBe(true);
  });

  test("a backup that was changed since is rejected, and one without a digest is not verified", () => {
    using at = place();
    const changed = join(at.folder, "changed.db");
    copyFileSync(at.backup, changed);
    {
      using sqlite = new Database(changed, { readwrite: true, create: false });
      sqlite.run("UPDATE notes SET text = 'else'");
    }
    expect(() => restoreDatabase(at.directory, changed)).toThrow(
      `${changed} is damaged, or was changed after the backup: its content does not match its digest.`,
    );
    alter(at.backup, "UPDATE notes SET text = 'else'");
    expect(restoreDatabase(at.directory, at.backup).isVerified).toBe(false);
    expect(committedNotes(at.directory.database)).toEqual(["else"]);
  });

  test("the copy from before an upgrade has a digest", () => {
    using at = place();
    using sqlite = openSqlite(at.directory.database, 0);
    const copy = copyBeforeUpgrade(sqlite, at.directory, SCHEMA_VERSION + 1);
    const other = openDataDirectory(join(at.folder, "elsewhere"));
    expect(restoreDatabase(other, copy).isVerified).toBe(true);
  });
});

describe("the commands backup and restore", () => {
  async function run(...args: string[]) {
    const { exitCode: code, out, err } = await commandLine("data")(args);
    return { code, text: [...out.map((line) => `out: ${line}`), ...err].join("\n") };
  }

  test("the commands back up and restore, and name the file of the old database", async () => {
    using at = place();
    const file = join(at.folder, "now.db");
    expect(await run("backup", file, "--data-dir", at.directory.path)).toEqual({
      code: 0,
      text: `Wrote ${file}.`,
    });
    const done = await run("restore", at.backup, "--data-dir", at.directory.path);
    expect(done.code).toBe(0);
    expect(done.text).toContain(`Restored ${at.backup}.`);
    expect(done.text).toMatch(/kept in \S+allclear\.db\.before-restore-\S+\./);
    expect(committedNotes(at.directory.database)).toEqual(["past"]);
    expect(committedNotes(file)).toEqual(["present"]);
  });

  test("while a server runs, restore is rejected naming it, and backup works", async () => {
    using at = place();
    await using server = startChild("hold-directory.ts", at.directory.path, "serve");
    expect(await server.line()).toBe("held");
    const before = readFileSync(at.directory.database);

    const rejected = await run("restore", at.backup, "--data-dir", at.directory.path);
    expect(rejected.code).toBe(1);
    expect(rejected.text).toContain(`in use by process ${server.pid} (allclear serve)`);
    expect(readFileSync(at.directory.database).equals(before)).toBe(true);

    const file = join(at.folder, "now.db");
    expect((await run("backup", file, "--data-dir", at.directory.path)).code).toBe(0);
    expect(committedNotes(file)).toEqual(["present"]);
  });

  test("restore releases the directory, also after a rejection", async () => {
    using at = place();
    copyFileSync(at.backup, join(at.folder, "good.db"));
    writeFileSync(at.backup, "bad");
    expect((await run("restore", at.backup, "--data-dir", at.directory.path)).code).toBe(1);
    lockOrExplain(at.directory, "serve").release();
    const good = await run("restore", join(at.folder, "good.db"), "--data-dir", at.directory.path);
    expect(good.code).toBe(0);
    lockOrExplain(at.directory, "serve").release();
  });
});
