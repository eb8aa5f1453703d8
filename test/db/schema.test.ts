import type { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { basename, join } from "node:path";
import { Glob } from "bun";
import { is } from "drizzle-orm";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import { migrate, MIGRATIONS, SCHEMA_VERSION } from "../../src/db/migrations";
import { openSqlite } from "../../src/db/open";

const ROOT = join(import.meta.dir, "..", "..");

/**
 * A column in a form that both sides can be compared by. A primary key is never NULL in a STRICT
 * table.
 */
interface Column {
  name: string;
  type: string;
  isNullable: boolean;
  hasDefault: boolean;
}

interface Table {
  columns: Column[];
  primaryKey: string[];
}

function migrated(): Database {
  const sqlite = openSqlite(":memory:", 0);
  migrate(sqlite, undefined);
  return sqlite;
}

function tableNames(sqlite: Database): string[] {
  const rows = sqlite
    .query<{ name: string }, []>(
      // Without virtual tables, and those in which they store their content.
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    )
    .all();
  return rows.map((row) => row.name);
}

function readTable(sqlite: Database, name: string): Table {
  const rows = sqlite
    .query<
      { name: string; type: string; notnull: number; dflt_value: string | null; pk: number },
      [string]
    >("SELECT name, type, [notnull], dflt_value, pk FROM pragma_table_xinfo(?)")
    .all(name);
  return {
    columns: rows.map((row) => ({
      name: row.name,
      type: row.type.toLowerCase(),
      isNullable: row.notnull === 0 && row.pk === 0,
      hasDefault: row.dflt_value !== null,
    })),
    primaryKey: rows
      .filter((row) => row.pk > 0)
      .sort((a, b) => a.pk - b.pk)
      .map((row) => row.name),
  };
}

async function declaredTables(): Promise<Map<string, Table>> {
  const tables = new Map<string, Table>();
  const folder = join(ROOT, "src/db/tables");
  for await (const file of new Glob("**/*.ts").scan(folder)) {
    const exported: Record<string, unknown> = await import(join(folder, file));
    for (const value of Object.values(exported)) {
      if (!is(value, SQLiteTable)) continue;
      const { name, columns, primaryKeys } = getTableConfig(value);
      tables.set(name, {
        columns: columns.map((column) => ({
          name: column.name,
          type: column.getSQLType(),
          isNullable: !column.notNull && !column.primary,
          hasDefault: column.default !== undefined,
        })),
        primaryKey: [
          ...columns.filter((column) => column.primary),
          ...primaryKeys.flatMap((key) => key.columns),
        ].map((column) => column.name),
      });
    }
  }
  return tables;
}

const declared = await declaredTables();

describe("the tables of src/db/tables", () => {
  test("the declared tables are exactly those that the migrations create", () => {
    using sqlite = migrated();
    const made = tableNames(sqlite).filter((name) => name !== "schema_migrations");
    expect([...declared.keys()].sort()).toEqual(made);
    expect(made).toContain("events");
  });

  test.each([...declared.keys()])(
    "the declared table %s has the migrated columns and primary key",
    (name) => {
      using sqlite = migrated();
      expect(declared.get(name)).toEqual(readTable(sqlite, name));
    },
  );
});

describe("the migrated schema", () => {
  test("all tables of the schema are STRICT", () => {
    using sqlite = migrated();
    const strict = sqlite
      .query<{ name: string }, []>(
        "SELECT name FROM pragma_table_list WHERE type = 'table' AND strict = 1 ORDER BY name",
      )
      .all();
    expect(strict.map((row) => row.name)).toEqual(tableNames(sqlite));
  });

  test("the schema enforces its foreign keys", () => {
    using sqlite = migrated();
    const orphan = () =>
      sqlite.run("INSERT INTO page_slugs (slug, page_id, created_at) VALUES ('a', 'nobody', 0)");
    expect(orphan).toThrow("FOREIGN KEY constraint failed");
  });
});

/** SQL that would end a shared transaction, or delay the check of a constraint until COMMIT. */
const FORBIDDEN = [
  { what: "a deferred foreign key", pattern: /\bDEFERR(ABLE|ED)\b|defer_foreign_keys/i },
  { what: "OR ROLLBACK", pattern: /\bOR\s+ROLLBACK\b/i },
  { what: "ON CONFLICT ROLLBACK", pattern: /\bON\s+CONFLICT\s+ROLLBACK\b/i },
  { what: "RAISE(ROLLBACK)", pattern: /\bRAISE\s*\(\s*ROLLBACK\b/i },
];
/** The runner's own business: a migration that did it would end the runner's transaction. */
const RUNNERS_OWN = {
  what: "a transaction or a pragma",
  pattern: /^\s*(COMMIT|SAVEPOINT|PRAGMA|BEGIN\s+(TRANSACTION|IMMEDIATE|EXCLUSIVE))\b/im,
};

function withoutComments(sql: string): string {
  return sql.replace(/--.*$/gm, "").replace(/\/\*[\s\S]*?\*\//g, "");
}

describe("forbidden SQL", () => {
  test.each([
    "CREATE TABLE a (b TEXT REFERENCES c (d) DEFERRABLE INITIALLY DEFERRED)",
    "INSERT OR ROLLBACK INTO a VALUES (1)",
    "CREATE TABLE a (b INTEGER PRIMARY KEY ON CONFLICT ROLLBACK)",
    "SELECT RAISE (ROLLBACK, 'no')",
  ])("is found where it stands: %s", (sql) => {
    expect(FORBIDDEN.filter(({ pattern }) => pattern.test(sql))).toHaveLength(1);
  });

  test.each([...MIGRATIONS])("migration $number $name contains no forbidden SQL", ({ sql }) => {
    const text = withoutComments(sql);
    const found = [...FORBIDDEN, RUNNERS_OWN].filter(({ pattern }) => pattern.test(text));
    expect(found.map(({ what }) => what)).toEqual([]);
  });

  test("no statement of the sources contains forbidden SQL", async () => {
    const found: string[] = [];
    let files = 0;
    for await (const file of new Glob("src/**/*.{ts,tsx}").scan(ROOT)) {
      const source = (await Bun.file(join(ROOT, file)).text())
        .replace(/\/\*[\s\S]*?\*\//g, "")
        .replace(/\/\/.*$/gm, "");
      files += 1;
      for (const { what, pattern } of FORBIDDEN)
        if (pattern.test(source)) found.push(`${file}: ${what}`);
    }
    expect(files).toBeGreaterThan(50);
    expect(found).toEqual([]);
  });
});

describe("the folder migrations/", () => {
  test("the build embeds every migration file under its number and name, in order", async () => {
    const files = [...new Glob("*").scanSync(join(ROOT, "migrations"))].sort();
    const embedded = MIGRATIONS.map(
      ({ number, name }) => `${String(number).padStart(4, "0")}_${name}.sql`,
    );
    expect(embedded).toEqual(files);
    expect(MIGRATIONS.map(({ number }) => number)).toEqual(MIGRATIONS.map((_, index) => index + 1));
    expect(SCHEMA_VERSION).toBe(files.length);
    for (const [index, file] of files.entries()) {
      const text = await Bun.file(join(ROOT, "migrations", basename(file))).text();
      expect(MIGRATIONS[index]?.sql).toBe(text);
    }
  });
});
