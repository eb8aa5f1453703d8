import type { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Tx } from "../../src/db/statements";
import { settle } from "../support/clock";
import {
  addNote,
  committedNotes,
  type NotesDatabase,
  openNotes,
  outcomesOf,
} from "../support/database";
import { temporaryFolder } from "../support/temporary-folder";

/** A way for SQLite to end the whole transaction under a callback's hands. */
interface Ending {
  name: string;
  prepare?(sqlite: Database): void;
  /** Throws, and the transaction is gone. */
  end(tx: Tx, sqlite: Database): void;
  /** Afterwards, so that the next change can be stored. */
  repair?(sqlite: Database): void;
}

const ENDINGS: Ending[] = [
  {
    name: "a database that has no page left",
    prepare: (sqlite) => {
      const { page_count: pages } = sqlite
        .query<{ page_count: number }, []>("PRAGMA page_count")
        .get() ?? { page_count: 0 };
      sqlite.run(`PRAGMA max_page_count = ${pages + 1}`);
    },
    end: (tx) => addNote(tx, "long ".repeat(20_000)),
    repair: (sqlite) => sqlite.run("PRAGMA max_page_count = 1000000"),
  },
  {
    name: "INSERT OR ROLLBACK",
    end: (tx, sqlite) => {
      addNote(tx, "twice");
      sqlite.run("INSERT OR ROLLBACK INTO notes VALUES ('twice')");
    },
  },
  {
    name: "a trigger with RAISE(ROLLBACK)",
    prepare: (sqlite) =>
      sqlite.run(
        "CREATE TEMP TRIGGER no BEFORE INSERT ON notes WHEN new.text = 'forbidden' BEGIN SELECT RAISE(ROLLBACK, 'no'); END",
      ),
    end: (tx) => addNote(tx, "forbidden"),
  },
  {
    name: "ROLLBACK",
    end: (tx, sqlite) => {
      sqlite.run("ROLLBACK");
      addNote(tx, "after the rollback");
    },
  },
  {
    name: "the loss of its own savepoint",
    end: (_tx, sqlite) => {
      sqlite.run("RELEASE callback");
      throw new Error("and then it failed");
    },
  },
];

function prepared(path: string, ending: Ending): NotesDatabase {
  const notes = openNotes(path);
  ending.prepare?.(notes.sqlite);
  return notes;
}

describe.each(ENDINGS)("a transaction that $name ends", (ending) => {
  test("every callback of a lost transaction is rejected, and nothing is committed", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "notes.db");
    using notes = prepared(path, ending);
    const outcomes = await outcomesOf(
      notes.db.write((tx) => addNote(tx, "before")),
      notes.db.write((tx) => ending.end(tx, notes.sqlite)),
    );
    expect(outcomes).toEqual(["unavailable", "unavailable"]);
    expect(committedNotes(path)).toEqual([]);
    expect(notes.sqlite.inTransaction).toBe(false);
    expect(notes.logged.at(-1)).toMatchObject({ msg: "changes could not be stored", callbacks: 2 });
  });

  test("every callback of a lost transaction is rejected even if the error was caught", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "notes.db");
    using notes = prepared(path, ending);
    let error: unknown;
    const outcomes = await outcomesOf(
      notes.db.write((tx) => addNote(tx, "before")),
      notes.db.write((tx) => {
        try {
          ending.end(tx, notes.sqlite);
        } catch (caught) {
          error = caught;
        }
      }),
    );
    expect(error).toBeInstanceOf(Error);
    expect(outcomes).toEqual(["unavailable", "unavailable"]);
    expect(committedNotes(path)).toEqual([]);
  });

  test("callbacks after a lost transaction get a transaction of their own", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "notes.db");
    using notes = prepared(path, ending);
    const outcomes = await outcomesOf(
      notes.db.write((tx) => ending.end(tx, notes.sqlite)),
      notes.db.write((tx) => addNote(tx, "behind")),
    );
    expect(outcomes).toEqual(["unavailable", "stored"]);
    ending.repair?.(notes.sqlite);
    await notes.db.write((tx) => addNote(tx, "later"));
    expect(committedNotes(path)).toEqual(["behind", "later"]);
  });
});

describe("a callback whose transaction was ended by an error that it swallowed", () => {
  test("a callback that caught the error of a lost transaction can no longer read or write", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "notes.db");
    using notes = openNotes(path);
    const errors: string[] = [];
    const attempt = (action: () => void) => {
      try {
        action();
      } catch (error) {
        errors.push((error as Error).message);
      }
    };
    const outcomes = await outcomesOf(
      notes.db.write((tx) => {
        addNote(tx, "twice");
        attempt(() => notes.sqlite.run("INSERT OR ROLLBACK INTO notes VALUES ('twice')"));
        attempt(() => addNote(tx, "by itself"));
        attempt(() => tx.afterCommit(() => {}));
      }),
    );
    const ended = "a transaction was used after an error had ended it";
    expect(errors).toEqual(["UNIQUE constraint failed: notes.text", ended, ended]);
    expect(outcomes).toEqual(["unavailable"]);
    expect(committedNotes(path)).toEqual([]);
  });
});

describe("a COMMIT that fails", () => {
  const DEFERRED = `CREATE TABLE answers (
    note TEXT REFERENCES notes (text) DEFERRABLE INITIALLY DEFERRED
  ) STRICT`;

  test("a failed COMMIT rejects all callbacks, stores nothing, and the writer works again", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "notes.db");
    using notes = openNotes(path);
    notes.sqlite.run(DEFERRED);
    const effects: string[] = [];
    const outcomes = await outcomesOf(
      notes.db.write((tx) => {
        addNote(tx, "innocent");
        tx.afterCommit(() => effects.push("innocent"));
      }),
      notes.db.write(() => void notes.sqlite.run("INSERT INTO answers VALUES ('to nothing')")),
    );
    await settle();
    expect(outcomes).toEqual(["unavailable", "unavailable"]);
    expect(effects).toEqual([]);
    expect(committedNotes(path)).toEqual([]);
    expect(notes.sqlite.inTransaction).toBe(false);

    await notes.db.write((tx) => addNote(tx, "later"));
    expect(committedNotes(path)).toEqual(["later"]);
  });
});

test("the error of a failed COMMIT has a retry time and its cause for the log", async () => {
  using notes = openNotes();
  const change = notes.db.write(() => void notes.sqlite.run("ROLLBACK"));
  expect(await change.catch((error: unknown) => error)).toMatchObject({
    code: "unavailable",
    message: "The change could not be stored. Nothing was written; try again.",
    headers: { "Retry-After": "5" },
    cause: new Error("a callback ended the transaction that it shared"),
  });
});
