import { expect, test } from "bun:test";
import { MIGRATIONS } from "../../src/db/migrations";
import { expectSound, openOldDatabase } from "../support/old-database";
import { temporaryFolder } from "../support/temporary-folder";

test("the upgrade keeps sessions and links, which began without an identity and are not for a recovery", () => {
  using folder = temporaryFolder();
  const before = MIGRATIONS.findIndex(({ name }) => name === "identities");
  using old = openOldDatabase(
    folder.path,
    before,
    `INSERT INTO users (id, email, name, role, version, created_at, updated_at)
      VALUES ('usr_1', 'ada@example.com', 'Ada', 'owner', 1, 1, 1);
    INSERT INTO sessions (id, hash, user_id, is_secure, created_at, last_seen_at, ip, user_agent)
      VALUES (5, zeroblob(32), 'usr_1', 1, 1, 1, '', '');
    INSERT INTO one_time_links (hash, purpose, user_id, created_at, expires_at)
      VALUES (zeroblob(32), 'reset', 'usr_1', 1, 1)`,
  );
  old.upgrade(before + 1);
  expect(old.sqlite.query("SELECT id, identity_id FROM sessions").all()).toEqual([
    { id: 5, identity_id: null },
  ]);
  expect(old.sqlite.query("SELECT purpose, is_recovery FROM one_time_links").all()).toEqual([
    { purpose: "reset", is_recovery: 0 },
  ]);
  expectSound(old.sqlite);
});
