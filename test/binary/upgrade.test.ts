import { Database } from "bun:sqlite";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { migrate, MIGRATIONS, SCHEMA_VERSION } from "../../src/db/migrations";
import { openSqlite, schemaVersion } from "../../src/db/open";
import { createInstallation, type Installation, PROCESS_TEST_MS } from "../support/binary";

setDefaultTimeout(PROCESS_TEST_MS);

const OLD_VERSION = 3;

/** Makes a database of an older schema in which migration 6 finds its first table taken. */
function makeObstructedDatabase(site: Installation): string {
  mkdirSync(site.dataDir, { mode: 0o750 });
  const file = join(site.dataDir, "allclear.db");
  using sqlite = openSqlite(file, 0);
  migrate(sqlite, undefined, MIGRATIONS.slice(0, OLD_VERSION));
  sqlite.run("CREATE TABLE webhooks (note TEXT) STRICT");
  sqlite.run("INSERT INTO webhooks VALUES ('in the way')");
  return file;
}

function versionOf(file: string): number {
  using sqlite = new Database(file, { readonly: true });
  return schemaVersion(sqlite);
}

describe("an upgrade that fails in a later migration", () => {
  test("five starts with a failing migration keep the old schema and one copy, and print the command that restores it", async () => {
    await using site = await createInstallation();
    const database = makeObstructedDatabase(site);
    const starts: string[] = [];
    for (let start = 0; start < 5; start++) {
      const { exitCode, stderr } = await site.run(["serve"]);
      expect(exitCode).toBe(1);
      starts.push(stderr);
    }
    const [first = ""] = starts;
    expect(new Set(starts)).toEqual(new Set([first]));
    const names = readdirSync(join(site.dataDir, "backups"));
    expect(names).toHaveLength(1);
    const copy = join(site.dataDir, "backups", names[0] ?? "");
    expect(first.trimEnd().split("\n")).toEqual([
      `The upgrade from schema version ${OLD_VERSION} to ${SCHEMA_VERSION} failed and was rolled back. Migration 6 (webhooks): table webhooks already exists`,
      "The database is as it was: the Allclear that used it before can go on with it.",
      `A copy from before the upgrade is in ${copy}. To put it back:  allclear restore ${copy} --data-dir ${site.dataDir}`,
    ]);
    expect([versionOf(database), versionOf(copy)]).toEqual([OLD_VERSION, OLD_VERSION]);

    // A database that is lost is brought back by the very command.
    await Bun.write(database, "lost");
    const words = first.split("To put it back:  allclear ")[1]?.trim().split(" ") ?? [];
    expect((await site.run(words)).exitCode).toBe(0);
    expect(versionOf(database)).toBe(OLD_VERSION);

    using sqlite = new Database(database);
    sqlite.run("DROP TABLE webhooks");
    sqlite.close(true);
    const server = await site.serve();
    expect((await server.fetch("/readyz")).status).toBe(200);
    expect(await server.stop()).toBe(0);
    expect(versionOf(database)).toBe(SCHEMA_VERSION);
  });
});
