import { expect, test } from "bun:test";
import { MIGRATIONS } from "../../src/db/migrations";
import { expectSound, openOldDatabase } from "../support/old-database";
import { temporaryFolder } from "../support/temporary-folder";

test("the upgrade gives users the time zone UTC, in which the dashboard showed times before", () => {
  using folder = temporaryFolder();
  const before = MIGRATIONS.findIndex(({ name }) => name === "user_time_zones");
  using old = openOldDatabase(
    folder.path,
    before,
    `INSERT INTO users (id, email, name, role, version, created_at, updated_at)
      VALUES ('usr_1', 'ada@example.com', 'Ada', 'owner', 1, 1, 1)`,
  );
  old.upgrade(before + 1);
  expect(old.sqlite.query("SELECT id, version, time_zone FROM users").all()).toEqual([
    { id: "usr_1", version: 1, time_zone: "UTC" },
  ]);
  expectSound(old.sqlite);
});
