import { Database } from "bun:sqlite";
import { describe, expect, spyOn, test } from "bun:test";
import { aliasedTable, and, desc, eq, isNull, sql } from "drizzle-orm";
import { blob, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { createDb, type Db } from "../../src/db/database";
import {
  insertAllInto,
  insertInto,
  mutate,
  mutateByIds,
  selectByIds,
  selectMany,
  selectOne,
  updateById,
} from "../../src/db/statements";
import { openSqlite } from "../../src/db/open";
import { deleteBy, findBy, listBy, setBy } from "../../src/db/rows";
import { createTestClock } from "../support/clock";
import { createTestLog } from "../support/log";

const things = sqliteTable("things", {
  id: text().primaryKey(),
  facts: text({ mode: "json" }).$type<unknown>(),
  isOpen: integer("is_open", { mode: "boolean" }),
  bytes: blob({ mode: "buffer" }),
});

const insertThing = insertInto(things);
const insertThings = insertAllInto(things);
const updateThing = updateById(things);
const findThing = selectOne((orm, $: { id: string }) =>
  orm.select().from(things).where(eq(things.id, $.id)),
);
const listThings = selectMany((orm, _$: Record<string, never>) => orm.select().from(things));
const findFirst = selectOne((orm, _$: Record<string, never>) =>
  orm.select().from(things).orderBy(things.id),
);
const setFacts = mutate((orm, $: { id: string; facts: unknown }) =>
  orm.update(things).set({ facts: $.facts }).where(eq(things.id, $.id)),
);

/** Query for the SQLite types of the stored values. */
const RAW =
  "SELECT typeof(facts) AS facts, typeof(is_open) AS isOpen, typeof(bytes) AS bytes FROM things";

function openThings(): Disposable & { db: Db; raw(): unknown[]; run(statement: string): void } {
  const sqlite = openSqlite(":memory:", 0);
  sqlite.run(
    "CREATE TABLE things (id TEXT PRIMARY KEY, facts TEXT, is_open INTEGER, bytes BLOB) STRICT",
  );
  const db = createDb(sqlite, createTestClock(), createTestLog("info").log);
  return {
    db,
    raw: () => sqlite.query(RAW).all(),
    run: (statement) => void sqlite.run(statement),
    [Symbol.dispose]: () => db.close(),
  };
}

const FULL = {
  id: "a",
  facts: { list: [1, "two", null] },
  isOpen: false,
  bytes: Buffer.from([0, 255]),
};

describe("a statement that compares columns", () => {
  const findOpen = findBy(things, ["id", "isOpen"], { where: isNull(things.bytes) });
  const listOpen = listBy(things, ["isOpen"], { order: [desc(things.id)] });
  const setFactsOf = setBy(things, ["id", "isOpen"], ["facts"]);
  const deleteOpen = deleteBy(things, ["isOpen"]);

  test("the rows whose columns have the given values are found, listed, changed and deleted", async () => {
    using at = openThings();
    const closed = { ...FULL, bytes: null };
    const opened = ["b", "c"].map((id) => ({ ...closed, id, isOpen: true }));
    await at.db.write((tx) => {
      insertThings(tx, [closed, ...opened]);
      expect(setFactsOf(tx, { id: "b", isOpen: false, facts: 1 })).toBe(0);
      expect(setFactsOf(tx, { id: "b", isOpen: true, facts: null })).toBe(1);
      insertThing(tx, { ...FULL, id: "d", isOpen: true });
    });
    expect(findOpen(at.db, { id: "b", isOpen: true })).toEqual({
      ...closed,
      id: "b",
      facts: null,
      isOpen: true,
    });
    expect(findOpen(at.db, { id: "a", isOpen: true })).toBeUndefined();
    expect(findOpen(at.db, { id: "d", isOpen: true })).toBeUndefined();
    expect(listOpen(at.db, { isOpen: true }).map(({ id }) => id)).toEqual(["d", "c", "b"]);
    expect(await at.db.write((tx) => deleteOpen(tx, { isOpen: true }))).toBe(3);
    expect(listThings(at.db, {})).toEqual([closed]);
  });
});

describe("a statement", () => {
  test("a statement returns what was stored, in every kind of column", async () => {
    using at = openThings();
    await at.db.write((tx) => insertThing(tx, FULL));
    expect(findThing(at.db, { id: "a" })).toEqual(FULL);
    expect(listThings(at.db, {})).toEqual([FULL]);
  });

  test("a statement stores NULL for null and for omitted values, in every kind of column", async () => {
    using at = openThings();
    const nulls = { facts: "null", isOpen: "null", bytes: "null" };
    await at.db.write((tx) => {
      insertThing(tx, { id: "a" });
      insertThing(tx, { id: "b", facts: null, isOpen: null, bytes: null });
    });
    expect(at.raw()).toEqual([nulls, nulls]);
    await at.db.write((tx) => {
      updateThing(tx, FULL);
      updateThing(tx, { ...FULL, facts: null, isOpen: null, bytes: null });
      setFacts(tx, { id: "b", facts: null });
    });
    expect(at.raw()).toEqual([nulls, nulls]);
    expect(findThing(at.db, { id: "a" })).toEqual({
      id: "a",
      facts: null,
      isOpen: null,
      bytes: null,
    });
  });

  test("no statement has a plain parameter as a limit or compares one with a column, so that SQLite plans it once", async () => {
    using store = openThings();
    const prepare = spyOn(Database.prototype, "prepare");
    try {
      const findSorted = selectOne((orm, $: { id: string; facts: string | null; limit: number }) =>
        orm
          .select()
          .from(things)
          .where(and(eq(things.id, $.id), sql`${things.facts} IS ${$.facts}`, isNull(things.bytes)))
          .orderBy(things.isOpen)
          .limit($.limit),
      );
      const setOpen = mutate((orm, $: { id: string; isOpen: boolean }) =>
        orm.update(things).set({ isOpen: $.isOpen }).where(eq(things.id, $.id)),
      );
      await store.db.write((tx) => {
        insertThing(tx, { id: "a", facts: null, isOpen: false });
        expect(findSorted(tx, { id: "a", facts: null, limit: 1 })?.isOpen).toBe(false);
        expect(setOpen(tx, { id: "a", isOpen: true })).toBe(1);
        expect(findSorted(tx, { id: "a", facts: null, limit: 1 })?.isOpen).toBe(true);
      });
      const texts = prepare.mock.calls.map(([text]) => text);
      expect(texts.filter((text) => text.includes("things"))).toHaveLength(3);
      expect(texts.filter((text) => /(=|IS|limit) \?/.test(text))).toEqual([]);
    } finally {
      prepare.mockRestore();
    }
  });

  test("a query for one row reads nothing from further rows", async () => {
    using at = openThings();
    await at.db.write((tx) => insertThing(tx, FULL));
    at.run("INSERT INTO things (id, facts) VALUES ('b', 'no JSON')");
    expect(findFirst(at.db, {})).toEqual(FULL);
    expect(() => listThings(at.db, {})).toThrow();
  });

  test("a statement returns undefined without a row, an empty list without rows, and 0 without changes", async () => {
    using at = openThings();
    expect(findThing(at.db, { id: "nobody" })).toBeUndefined();
    expect(listThings(at.db, {})).toEqual([]);
    expect(await at.db.write((tx) => setFacts(tx, { id: "nobody", facts: 1 }))).toBe(0);
  });

  test("a statement returns objects of joined tables, null for one that a left join leaves out", async () => {
    const others = aliasedTable(things, "others");
    const inner = selectMany((orm, _$: Record<string, never>) =>
      orm
        .select({ thing: things, rest: { facts: others.facts }, kind: sql<string>`'pair'` })
        .from(things)
        .innerJoin(others, eq(others.isOpen, things.isOpen)),
    );
    const left = selectMany((orm, _$: Record<string, never>) =>
      orm
        .select({ id: things.id, other: { id: others.id, bytes: others.bytes } })
        .from(things)
        .leftJoin(others, eq(others.id, sql`'none'`)),
    );
    using at = openThings();
    await at.db.write((tx) => insertThing(tx, { ...FULL, facts: null, bytes: null }));
    // No table is left out, so that an object of nulls stays an object.
    expect(inner(at.db, {})).toEqual([
      { thing: { ...FULL, facts: null, bytes: null }, rest: { facts: null }, kind: "pair" },
    ]);
    expect<unknown>(left(at.db, {})).toEqual([{ id: FULL.id, other: null }]);
  });

  test("a statement by ids applies to none, one or several rows", async () => {
    using at = openThings();
    const listByIds = selectByIds((orm, isOneOf) =>
      orm.select({ id: things.id, facts: things.facts }).from(things).where(isOneOf(things.id)),
    );
    const setFactsOf = mutateByIds((orm, isOneOf, $: { facts: unknown }) =>
      orm.update(things).set({ facts: $.facts }).where(isOneOf(things.id)),
    );
    await at.db.write((tx) => {
      insertThings(
        tx,
        ["a", "b", "c"].map((id) => ({ id, facts: 0 })),
      );
      expect(setFactsOf(tx, [], { facts: 1 })).toBe(0);
      expect(setFactsOf(tx, ["b"], { facts: 2 })).toBe(1);
      expect(setFactsOf(tx, ["c", "a", "missing"], { facts: [3] })).toBe(2);
    });
    expect(listByIds(at.db, [])).toEqual([]);
    expect(listByIds(at.db, ["b"])).toEqual([{ id: "b", facts: 2 }]);
    expect(listByIds(at.db, ["missing"])).toEqual([]);
    expect(listByIds(at.db, ["a", "c"])).toEqual([
      { id: "a", facts: [3] },
      { id: "c", facts: [3] },
    ]);
  });

  test("rows that are inserted together are all stored, in order", async () => {
    using at = openThings();
    const nulls = { facts: null, isOpen: null, bytes: null };
    const rows = Array.from({ length: 150 }, (_, index) => ({
      ...(index % 2 === 0 ? FULL : nulls),
      id: String(1000 + index),
    }));
    await at.db.write((tx) => insertThings(tx, rows));
    expect(listThings(at.db, {})).toEqual(rows);
  });

  test("a change without the value of a parameter is rejected", async () => {
    using at = openThings();
    const change = at.db.write((tx) => setFacts(tx, { facts: 1 } as never));
    await expect(change).rejects.toThrow('"id" has no value');
  });

  test("a statement that replaces a missing row throws, and its transaction is rolled back", async () => {
    using at = openThings();
    const change = at.db.write((tx) => {
      insertThing(tx, FULL);
      updateThing(tx, { ...FULL, id: "nobody" });
    });
    await expect(change).rejects.toThrow("the row to update is not there");
    expect(listThings(at.db, {})).toEqual([]);
  });

  test("a statement of a store works on several databases independently", async () => {
    using one = openThings();
    using two = openThings();
    await one.db.write((tx) => insertThing(tx, FULL));
    expect(listThings(one.db, {})).toHaveLength(1);
    expect(listThings(two.db, {})).toEqual([]);
  });

  test("a statement works after the database of its first use was closed", async () => {
    const insert = insertInto(things);
    const list = selectMany((orm, _$: Record<string, never>) => orm.select().from(things));
    {
      using first = openThings();
      await first.db.write((tx) => insert(tx, FULL));
      expect(list(first.db, {})).toHaveLength(1);
    }
    using second = openThings();
    await second.db.write((tx) => insert(tx, { ...FULL, id: "b" }));
    expect(list(second.db, {}).map(({ id }) => id)).toEqual(["b"]);
  });
});
