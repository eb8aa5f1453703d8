import { expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { statSync } from "node:fs";
import { restoreDatabase } from "../../src/db/restore";
import { openDataDirectory } from "../../src/db/data-directory";
import { inviteUser } from "../../src/features/users";
import { CLI_ACTOR } from "../../src/kernel/actor";
import { createTestApp } from "../support/app";
import { temporaryFolder } from "../support/temporary-folder";

const count = (file: string, table: string): unknown => {
  using sqlite = new Database(file, { readonly: true });
  return Object.values(sqlite.prepare(`SELECT count(*) FROM ${table}`).get() as object)[0];
};

test("a restored database revives no session and no link of then, and keeps users and keys", async () => {
  using folder = temporaryFolder();
  const backup = join(folder.path, "backup.db");
  {
    await using app = await createTestApp({ databasePath: join(folder.path, "source.db") });
    const { ctx } = app;
    await app.signedIn("owner");
    await app.createKey();
    const guest = { email: "guest@example.com", name: "Guest", role: "viewer" as const };
    await ctx.db.write((tx) => inviteUser(ctx, tx, guest, CLI_ACTOR));
    ctx.db.copyTo(backup);
  }
  expect(["sessions", "one_time_links"].map((table) => count(backup, table))).toEqual([1, 1]);
  const directory = openDataDirectory(join(folder.path, "data"));
  restoreDatabase(directory, backup);
  const { database } = directory;
  expect(["sessions", "one_time_links"].map((table) => count(database, table))).toEqual([0, 0]);
  expect(count(database, "users")).toBeGreaterThanOrEqual(2);
  expect(count(database, "api_keys")).toBe(1);
  // The backup itself is left as it is.
  expect(count(backup, "sessions")).toBe(1);
});

test("a new database is for its owner and their group, whatever the directory is", async () => {
  using folder = temporaryFolder();
  const databasePath = join(folder.path, "open-to-all.db");
  await using app = await createTestApp({ databasePath });
  await app.signedIn();
  for (const file of [databasePath, `${databasePath}-wal`]) {
    expect([file, statSync(file).mode & 0o777]).toEqual([file, 0o640]);
  }
});
