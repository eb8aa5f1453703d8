import type { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { connect } from "../../src/db/writer";
import { migrate, type Migration, MIGRATIONS, SCHEMA_VERSION } from "../../src/db/migrations";
import { openSqlite } from "../../src/db/open";
import { unreadableSchema } from "../../src/db/schema-guard";
import { createLog } from "../../src/base/log";

/** Number of migrations before the first one after which older replicas could go on. */
const FIRST_FOLLOWED = 20;

function migrated(migrations: readonly Migration[]): Database {
  const sqlite = openSqlite(":memory:", 0);
  migrate(sqlite, undefined, migrations);
  return sqlite;
}

/** Returns why a build with this schema version cannot read a database. */
function unreadable(sqlite: Database, own: number) {
  const log = createLog("silent", (text) => text);
  return unreadableSchema(
    connect(sqlite, log, () => {}),
    own,
  );
}

/** Migrations with these numbers after those of the build. */
function withFurther(...further: Partial<Migration>[]): readonly Migration[] {
  const next = further.map((migration, index) => ({
    number: SCHEMA_VERSION + 1 + index,
    name: `further_${index}`,
    sql: `CREATE TABLE further_${index} (id INTEGER PRIMARY KEY) STRICT;`,
    ...migration,
  }));
  return [...MIGRATIONS, ...next];
}

/** Returns the columns that a schema has, with their tables and types. A view replaces a table of any types. */
function columnsOf(sqlite: Database): string[] {
  const rows = sqlite
    .query<{ column: string }, []>(
      "SELECT t.name || '.' || c.name || iif(t.type = 'view', '', ' ' || c.type) AS [column] FROM pragma_table_list AS t, pragma_table_xinfo(t.name) AS c WHERE t.schema = 'main' AND t.type IN ('table', 'view')",
    )
    .all();
  return rows.map(({ column }) => column);
}

/** Returns the columns of the oldest admitted schema version that are gone after a migration. */
function lostColumns(migrations: readonly Migration[], { number, readableFrom }: Migration) {
  using before = migrated(migrations.slice(0, readableFrom ?? number));
  using after = migrated(migrations.slice(0, number));
  const left = new Set(columnsOf(after));
  return columnsOf(before).filter(
    (column) => !left.has(column) && !left.has(column.replace(/ .*/, "")),
  );
}

describe("a database that a build must not migrate", () => {
  test("a database of the build's own schema version is readable", () => {
    using sqlite = migrated(MIGRATIONS);
    expect(unreadable(sqlite, SCHEMA_VERSION)).toBeUndefined();
  });

  test("a database of an older schema version needs an upgraded primary", () => {
    using sqlite = migrated(MIGRATIONS.slice(0, -1));
    expect(unreadable(sqlite, SCHEMA_VERSION)).toEqual({
      version: SCHEMA_VERSION - 1,
      outdated: "primary",
      message: `The database has schema version ${SCHEMA_VERSION - 1}, this replica needs ${SCHEMA_VERSION}. Upgrade the primary first, then its replicas.`,
    });
  });

  test("a database of a newer schema version is readable from the version that its migration declares", () => {
    using sqlite = migrated(withFurther({ readableFrom: SCHEMA_VERSION }));
    expect(unreadable(sqlite, SCHEMA_VERSION)).toBeUndefined();
    expect(unreadable(sqlite, SCHEMA_VERSION - 1)?.outdated).toBe("replica");
  });

  test("a newer migration that declares nothing excludes older replicas", () => {
    using sqlite = migrated(withFurther({}));
    expect(unreadable(sqlite, SCHEMA_VERSION)).toEqual({
      version: SCHEMA_VERSION + 1,
      outdated: "replica",
      message: `The database has schema version ${SCHEMA_VERSION + 1}, which replicas can read from version ${SCHEMA_VERSION + 1} on; this one has ${SCHEMA_VERSION}. Upgrade this replica.`,
    });
  });

  test("of several migrations the one that excludes most replicas counts", () => {
    using sqlite = migrated(withFurther({}, { readableFrom: SCHEMA_VERSION }));
    expect(unreadable(sqlite, SCHEMA_VERSION)?.outdated).toBe("replica");
    expect(unreadable(sqlite, SCHEMA_VERSION + 1)).toBeUndefined();
  });

  test("a database of a build without declarations needs an upgraded primary, which adds them", () => {
    using sqlite = migrated(MIGRATIONS.slice(0, FIRST_FOLLOWED - 1));
    sqlite.run("ALTER TABLE schema_migrations DROP COLUMN readable_from");
    expect(unreadable(sqlite, SCHEMA_VERSION)?.outdated).toBe("primary");
    migrate(sqlite, undefined, withFurther({ readableFrom: SCHEMA_VERSION }));
    expect(unreadable(sqlite, SCHEMA_VERSION)).toBeUndefined();
  });
});

describe("the declarations of migrations", () => {
  test.each(MIGRATIONS.slice(FIRST_FOLLOWED))(
    "migration $number $name keeps all columns that the replicas read which it admits",
    (migration) => {
      expect(lostColumns(MIGRATIONS, migration)).toEqual([]);
    },
  );

  test("a migration that renames a column which it says can be read is found", () => {
    const sql = "ALTER TABLE pages RENAME COLUMN accent TO colour;";
    const renaming = withFurther({ sql, readableFrom: SCHEMA_VERSION });
    expect(lostColumns(renaming, renaming.at(-1) as Migration)).toEqual(["pages.accent TEXT"]);
  });

  test("no migration declares that a version after its own is needed", () => {
    const wrong = MIGRATIONS.filter(({ number, readableFrom = number }) => readableFrom > number);
    expect(wrong).toEqual([]);
  });
});
