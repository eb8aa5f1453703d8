import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  openSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { OperatorError } from "../../src/db/errors";
import { type KumaDatabase, openKumaDatabase } from "../../src/imports/uptime-kuma/database";
import { copyDatabase } from "../../src/imports/foreign-database";
import { readUptimeKuma } from "../../src/imports/uptime-kuma/read";
import { startChild } from "../support/child";
import { createKumaDatabase } from "../support/kuma-database";
import { temporaryFolder } from "../support/temporary-folder";

/** Another user, in tests that run as root. */
const UID = 54_321;
const isRoot = process.getuid?.() === 0;

/** Creates a database of Uptime Kuma with one monitor, changes it, and closes it. */
function writeKuma(path: string, change: (sqlite: Database) => void = () => undefined): void {
  const sqlite = createKumaDatabase(path);
  sqlite.run("INSERT INTO monitor (name) VALUES ('Shop')");
  change(sqlite);
  sqlite.close(true);
}

/** Opens a database, and returns what a test reads in it. */
async function opened<Result>(path: string, read: (kuma: KumaDatabase) => Result): Promise<Result> {
  using kuma = await openKumaDatabase(path);
  return read(kuma);
}

const namesIn = (kuma: KumaDatabase) => kuma.rows("monitor", ["name"]).map(({ name }) => name);

/** Returns the error with which a path is refused. */
async function refusalOf(path: string): Promise<string> {
  const error: unknown = await opened(path, namesIn).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(OperatorError);
  return (error as Error).message;
}

/** Creates a folder with a database, which a test changes. */
function kumaFolder(change?: (sqlite: Database) => void) {
  const folder = temporaryFolder();
  const path = join(folder.path, "kuma.db");
  writeKuma(path, change);
  return { folder: folder.path, path, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

describe("a path to a database of Uptime Kuma", () => {
  test("can be a file or a data directory", async () => {
    using source = kumaFolder();
    expect(await opened(source.path, namesIn)).toEqual(["Shop"]);
    expect(await opened(source.folder, namesIn)).toEqual(["Shop"]);
  });

  test("without a file is refused", async () => {
    using folder = temporaryFolder();
    expect(await refusalOf(join(folder.path, "kuma.db"))).toMatch(
      /^There is no file .*kuma\.db\.$/,
    );
    expect(await refusalOf(folder.path)).toBe(`There is no kuma.db in ${folder.path}.`);
  });

  test("of an installation on MariaDB is refused by that name", async () => {
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, "db-config.json"), '{"type": "embedded-mariadb"}');
    expect(await refusalOf(folder.path)).toContain("uses MariaDB");
  });

  test.each([
    ["an empty file", ""],
    ["a text", "version: 1\n"],
    ["a file with a header of SQLite alone", "SQLite format 3\0"],
  ])("with %s is refused", async (_name, content) => {
    using folder = temporaryFolder();
    const path = join(folder.path, "kuma.db");
    writeFileSync(path, content);
    expect(await refusalOf(path)).toContain(path);
    expect(readdirSync(folder.path)).toEqual(["kuma.db"]);
  });

  test("that is a device is refused and not read", async () => {
    expect(await refusalOf("/dev/zero")).toBe("/dev/zero is no file.");
  });

  test("of another program's database is refused", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "other.db");
    const sqlite = new Database(path, { create: true });
    sqlite.run("CREATE TABLE monitors (id INTEGER)");
    sqlite.close(true);
    expect(await refusalOf(path)).toBe(
      `${path} is no database of Uptime Kuma: it has no table monitor.`,
    );
  });

  test("with markup, questions and percent signs in it is read", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "a?b%20#c <kuma>.db");
    writeKuma(path);
    expect(await opened(path, namesIn)).toEqual(["Shop"]);
    expect(readdirSync(folder.path)).toHaveLength(1);
  });
});

describe("a database of Uptime Kuma that is in use", () => {
  test("is read with the newest changes, without those of later transactions", async () => {
    using source = kumaFolder();
    using live = new Database(source.path);
    live.run("INSERT INTO monitor (name) VALUES ('New')");
    using kuma = await openKumaDatabase(source.path);
    live.run("INSERT INTO monitor (name) VALUES ('Later')");
    expect(namesIn(kuma)).toEqual(["Shop", "New"]);
    expect(kuma.toDo).toEqual([]);
    kuma.requireUnchanged();
  });

  test("is not changed", async () => {
    using source = kumaFolder();
    using live = new Database(source.path);
    live.run("INSERT INTO monitor (name) VALUES ('New')");
    const before = [readFileSync(source.path), readFileSync(`${source.path}-wal`)];
    await opened(source.path, namesIn);
    expect([readFileSync(source.path), readFileSync(`${source.path}-wal`)]).toEqual(before);
  });
});

describe("a database of Uptime Kuma whose log is missing", () => {
  const BEAT =
    "INSERT INTO heartbeat (monitor_id, status, time) VALUES (1, 1, '2026-03-24 14:02:03.123')";

  test("is read with an instruction that names the newest heartbeat", async () => {
    using source = kumaFolder((sqlite) => sqlite.run(BEAT));
    const [instruction = "", ...others] = await opened(source.path, ({ toDo }) => toDo);
    expect(others).toEqual([]);
    expect(instruction).toContain("newest heartbeat is of 2026-03-24 14:02:03 UTC");
    expect(instruction).toContain("copy both files");
  });

  test("is read without an instruction if it is not in WAL mode", async () => {
    using source = kumaFolder((sqlite) => sqlite.run("PRAGMA journal_mode = DELETE"));
    expect(await opened(source.path, ({ toDo }) => toDo)).toEqual([]);
  });

  test("gets no further files beside it, so that the next run says the same", async () => {
    using source = kumaFolder();
    const first = await opened(source.path, ({ toDo }) => toDo);
    expect(readdirSync(source.folder)).toEqual(["kuma.db"]);
    expect(await opened(source.path, ({ toDo }) => toDo)).toEqual(first);
  });

  test("lacks what is in the log, and has it with both files", async () => {
    using source = kumaFolder();
    using copies = temporaryFolder();
    using live = new Database(source.path);
    live.run("INSERT INTO monitor (name) VALUES ('In the log')");
    const copy = join(copies.path, "kuma.db");
    copyFileSync(source.path, copy);
    expect(await opened(copy, namesIn)).toEqual(["Shop"]);
    copyFileSync(`${source.path}-wal`, `${copy}-wal`);
    expect(await opened(copy, namesIn)).toEqual(["Shop", "In the log"]);
  });

  test("is refused if Uptime Kuma was started while it was read", async () => {
    using source = kumaFolder();
    using kuma = await openKumaDatabase(source.path);
    kuma.requireUnchanged();
    using live = new Database(source.path);
    live.run("INSERT INTO monitor (name) VALUES ('New')");
    expect(() => kuma.requireUnchanged()).toThrow("was changed while it was read");
  });

  test("with a time of a heartbeat that is none names no time", async () => {
    using source = kumaFolder((sqlite) =>
      sqlite.run("INSERT INTO heartbeat (monitor_id, status, time) VALUES (1, 1, '<b>')"),
    );
    const [instruction = ""] = await opened(source.path, ({ toDo }) => toDo);
    expect(instruction).not.toContain("<b>");
  });
});

describe.skipIf(!isRoot)("a database of Uptime Kuma in a folder of another user", () => {
  test("is copied with its log, and the copy is removed at once", async () => {
    using source = kumaFolder();
    using live = new Database(source.path);
    live.run("INSERT INTO monitor (name) VALUES ('In the log')");
    chmodSync(source.folder, 0o755);
    const before = readdirSync(source.folder).toSorted();
    using temporary = temporaryFolder();
    chownSync(temporary.path, UID, UID);

    await using child = startChild("open-kuma-as.ts", source.path, String(UID), temporary.path);
    expect(JSON.parse(await child.line())).toEqual(["Shop", "In the log"]);
    expect(readdirSync(temporary.path)).toEqual([]);
    expect(readdirSync(source.folder).toSorted()).toEqual(before);
  });

  test("that cannot be read is refused, and no copy stays", async () => {
    using source = kumaFolder();
    using live = new Database(source.path);
    live.run("INSERT INTO monitor (name) VALUES ('In the log')");
    chmodSync(source.folder, 0o755);
    chmodSync(`${source.path}-wal`, 0o600);
    using temporary = temporaryFolder();
    chownSync(temporary.path, UID, UID);

    await using child = startChild("open-kuma-as.ts", source.path, String(UID), temporary.path);
    expect(JSON.parse(await child.line())).toContain("cannot be copied");
    expect(readdirSync(temporary.path)).toEqual([]);
  });

  test("is read in place without a log", async () => {
    using source = kumaFolder();
    chmodSync(source.folder, 0o755);
    using temporary = temporaryFolder();
    chownSync(temporary.path, UID, UID);

    await using child = startChild("open-kuma-as.ts", source.path, String(UID), temporary.path);
    expect(JSON.parse(await child.line())).toEqual(["Shop"]);
    expect(readdirSync(source.folder)).toEqual(["kuma.db"]);
  });
});

describe("a copy of a database of Uptime Kuma that is written to meanwhile", () => {
  /** Copies a database, and writes to it in turns of the event loop as long as `isBusy` says. */
  async function copyWhile(source: { path: string }, isBusy: (turn: number) => boolean) {
    using live = new Database(source.path);
    const insert = "INSERT INTO monitor (name) VALUES (hex(randomblob(20000)))";
    live.run(insert);
    let isDone = false;
    const copying = copyDatabase(source.path).finally(() => {
      isDone = true;
    });
    const outcome = copying.then(
      (path) => ({ path, message: "" }),
      (error: unknown) => ({ path: "", message: (error as OperatorError).message }),
    );
    for (let turn = 0; !isDone; turn += 1) {
      if (isBusy(turn)) {
        live.run(insert);
        live.run("PRAGMA wal_checkpoint(TRUNCATE)");
        live.run(insert);
      }
      // oxlint-disable-next-line no-await-in-loop
      await setImmediate();
    }
    return outcome;
  }

  test.each([
    ["once", (turn: number) => turn === 0],
    ["now and then", (turn: number) => turn % 3 === 0],
    ["all the time", () => true],
  ])("%s is whole, or is refused and removed", async (_name, isBusy) => {
    using source = kumaFolder();
    using temporary = temporaryFolder();
    const { TMPDIR: before } = process.env;
    process.env["TMPDIR"] = temporary.path;
    const { path, message } = await copyWhile(source, isBusy).finally(() => {
      if (before === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = before;
    });
    if (path === "") {
      expect(message).toContain("is written to too often to be copied");
      expect(readdirSync(temporary.path)).toEqual([]);
    } else {
      expect(path).toStartWith(temporary.path);
      using copy = new Database(path);
      const [check] = copy.prepare<{ integrity_check: string }, []>("PRAGMA integrity_check").all();
      expect(check?.integrity_check).toBe("ok");
    }
  });
});

describe("a hostile database of Uptime Kuma", () => {
  test.each([
    ["a view", "CREATE VIEW heartbeat AS SELECT * FROM monitor, monitor AS other"],
    ["a virtual table", "CREATE VIRTUAL TABLE heartbeat USING fts5 (time)"],
  ])("with %s in place of a table is refused", async (_name, sql) => {
    using source = kumaFolder((sqlite) => {
      sqlite.run("DROP TABLE heartbeat");
      sqlite.run(sql);
    });
    expect(await refusalOf(source.path)).toContain("heartbeat is a view or a virtual table");
  });

  test("with views that multiply is read without them", async () => {
    using source = kumaFolder((sqlite) => {
      sqlite.run("CREATE VIEW v0 AS SELECT id FROM monitor");
      for (let depth = 1; depth < 30; depth += 1) {
        sqlite.run(`CREATE VIEW v${depth} AS SELECT a.id FROM v${depth - 1} a, v${depth - 1} b`);
      }
    });
    using kuma = await openKumaDatabase(source.path);
    expect(namesIn(kuma)).toEqual(["Shop"]);
    expect(kuma.notRead).toContain("table v1");
  });

  test("with triggers runs none", async () => {
    using source = kumaFolder((sqlite) => {
      sqlite.run("CREATE TABLE log (text)");
      for (const event of ["INSERT", "UPDATE", "DELETE"]) {
        sqlite.run(
          `CREATE TRIGGER t_${event} AFTER ${event} ON monitor BEGIN INSERT INTO log VALUES (1); END`,
        );
      }
    });
    const before = readFileSync(source.path);
    await opened(source.path, namesIn);
    expect(readFileSync(source.path)).toEqual(before);
  });

  test("with 10,000 further tables is read in short time, and names some", async () => {
    using source = kumaFolder((sqlite) => {
      const numbers = Array.from({ length: 10_000 }, (_, number) => number);
      const tables = numbers.map((number) => `CREATE TABLE t${number} (a, b, c);`);
      sqlite.run(`BEGIN; ${tables.join("")} COMMIT`);
    });
    using kuma = await openKumaDatabase(source.path);
    expect(namesIn(kuma)).toEqual(["Shop"]);
    expect(kuma.notRead).toHaveLength(21);
    expect(kuma.notRead.at(-1)).toBe("9980 more tables and columns");
    // Making them takes most of the time.
  }, 600_000);

  test("with tables and columns that are not known names them", async () => {
    using source = kumaFolder((sqlite) => {
      sqlite.run("CREATE TABLE agent (id INTEGER)");
      sqlite.run("ALTER TABLE monitor ADD COLUMN region TEXT");
      sqlite.run(`CREATE TABLE "a\u202e${"x".repeat(500)}" (id INTEGER)`);
    });
    const notRead = await opened(source.path, (kuma) => kuma.notRead);
    expect(notRead).toEqual(["monitor.region", "table agent", `table a${"x".repeat(73)}`]);
  });

  test("with computed columns reads none of them", async () => {
    using source = kumaFolder((sqlite) => {
      sqlite.run("ALTER TABLE monitor ADD COLUMN body TEXT AS (hex(zeroblob(500000000)))");
    });
    const read = (kuma: KumaDatabase) => kuma.rows("monitor", ["name", "body"]);
    expect(await opened(source.path, read)).toEqual([{ name: "Shop", body: null }]);
  });

  test("with huge texts is cut, and larger ones are not read", async () => {
    using source = kumaFolder((sqlite) => {
      sqlite.run("INSERT INTO monitor (name) VALUES (printf('%.*c', 1000000, 'é'))");
      sqlite.run("INSERT INTO monitor (name) VALUES (printf('%.*c', 30000000, 'x'))");
    });
    using kuma = await openKumaDatabase(source.path);
    const names = kuma.rows("monitor", ["name"], 150).map(({ name }) => name);
    expect(names).toEqual(["Shop", "é".repeat(150), null]);
  });

  test("with a text of which the file has only the start is refused", async () => {
    using source = kumaFolder((sqlite) => {
      sqlite.run(
        "INSERT INTO heartbeat (monitor_id, status, time, msg) VALUES (1, 1, 'x', printf('%.*c', 3000, 'y'))",
      );
    });
    // The length of a message of 3,000 bytes becomes one of 4 GiB in the header of its row.
    const bytes = readFileSync(source.path);
    const [high, low] = [0x80 | ((3_000 * 2 + 13) >> 7), (3_000 * 2 + 13) & 0x7f];
    const at = bytes.indexOf(Buffer.from([high, low]));
    expect(at).toBeGreaterThan(0);
    bytes.set([0xff, 0x7f], at);
    writeFileSync(source.path, bytes);
    expect(await refusalOf(source.path)).toContain("cannot be read");
  });

  test("with values of other types is read without binary values, and texts up to a NUL character", async () => {
    using source = kumaFolder((sqlite) => {
      sqlite.run("DELETE FROM monitor");
      sqlite.run("INSERT INTO monitor (name, interval) VALUES (x'00ff', 'often')");
      sqlite.run("INSERT INTO monitor (name, interval) VALUES (NULL, 1e999)");
      sqlite.run("INSERT INTO monitor (name, interval) VALUES ('a' || char(0) || 'b', 1.5)");
    });
    const read = (kuma: KumaDatabase) => kuma.rows("monitor", ["name", "interval", "keyword"]);
    expect(await opened(source.path, read)).toEqual([
      { name: null, interval: "often", keyword: null },
      { name: null, interval: Infinity, keyword: null },
      { name: "a", interval: 1.5, keyword: null },
    ]);
  });

  test("without the index of a large history is read without it, and says so", async () => {
    using source = kumaFolder((sqlite) => {
      sqlite.run("DROP INDEX monitor_time_index");
      sqlite.run("CREATE INDEX partly ON heartbeat (monitor_id, time) WHERE status = 0");
      sqlite.run("CREATE TABLE filler (text)");
      sqlite.run("INSERT INTO filler VALUES (zeroblob(10000000))");
    });
    const { history, toDo, monitors } = await readUptimeKuma(source.path);
    expect(history).toBeUndefined();
    expect(toDo.join()).toContain("CREATE INDEX monitor_time_index ON heartbeat");
    expect(monitors).toHaveLength(1);
  });

  test("with more rows than a table may have is refused", async () => {
    using source = kumaFolder((sqlite) => {
      sqlite.run(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100001) INSERT INTO monitor (name) SELECT 'x' FROM n",
      );
    });
    expect(await refusalOf(source.path)).toContain("more than 100,000 rows in the table monitor");
  });

  test("with more texts than there is memory for is refused", async () => {
    using source = kumaFolder((sqlite) => {
      sqlite.run(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150) INSERT INTO monitor (name) SELECT printf('%.*c', 999999, 'x') FROM n",
      );
    });
    expect(await refusalOf(source.path)).toContain("more than 128 MiB in the table monitor");
  });

  test("with a collation that does not exist is refused", async () => {
    using source = kumaFolder((sqlite) => {
      sqlite.run("DROP TABLE monitor");
      sqlite.run("CREATE TABLE monitor (id TEXT COLLATE rtrim, name TEXT)");
    });
    const bytes = readFileSync(source.path);
    writeFileSync(source.path, bytes.toString("latin1").replaceAll("rtrim", "evils"), "latin1");
    expect(await refusalOf(source.path)).toContain("no such collation sequence: evils");
  });

  test("that is damaged is refused", async () => {
    using source = kumaFolder((sqlite) => {
      sqlite.run(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO monitor (name) SELECT 'x' FROM n",
      );
    });
    const file = openSync(source.path, "r+");
    for (let page = 12; page < 30; page += 1) {
      writeSync(file, Buffer.alloc(4_096, 0xff), 0, 4_096, page * 4_096);
    }
    expect(await refusalOf(source.path)).toContain("cannot be read");
    truncateSync(source.path, 4_096);
    expect(await refusalOf(source.path)).toContain("cannot be read");
  });
});
