import { expect, test } from "bun:test";
import { MIGRATIONS } from "../../src/db/migrations";
import { expectSound, openOldDatabase } from "../support/old-database";
import { temporaryFolder } from "../support/temporary-folder";

const TABLES = ["second_factors", "recovery_codes", "sign_in_steps"];

test("after the upgrade sessions go on, no user has a second factor, and a new one is deleted with its user", () => {
  using folder = temporaryFolder();
  const before = MIGRATIONS.findIndex(({ name }) => name === "second_factors");
  using old = openOldDatabase(
    folder.path,
    before,
    `INSERT INTO users (id, email, name, role, password_hash, version, created_at, updated_at)
      VALUES ('usr_1', 'ada@example.com', 'Ada', 'owner', 'hash', 1, 1, 1);
    INSERT INTO identities (id, user_id, issuer, subject, label, created_at, last_used_at)
      VALUES (3, 'usr_1', 'https://login.example.com', 'ada', 'Ada', 1, 1);
    INSERT INTO sessions (id, hash, user_id, is_secure, created_at, last_seen_at, ip, user_agent, identity_id)
      VALUES (5, zeroblob(32), 'usr_1', 1, 1, 1, '', '', 3)`,
  );
  old.upgrade(before + 1);
  const { sqlite } = old;
  const countAll = () =>
    TABLES.map((table) => Object.values(old.rows(`SELECT count(*) FROM ${table}`)[0] ?? {})[0]);
  expect(countAll()).toEqual([0, 0, 0]);
  expect(old.rows("SELECT id, password_hash FROM users")).toEqual([
    { id: "usr_1", password_hash: "hash" },
  ]);
  expect(old.rows("SELECT id, identity_id FROM sessions")).toEqual([{ id: 5, identity_id: 3 }]);

  const factor = "INSERT INTO second_factors VALUES ('usr_1', zeroblob(20), 1, '[]', 0, 0, 1)";
  const codes = "INSERT INTO recovery_codes VALUES (zeroblob(32), 'usr_1')";
  // A recovery code needs a second factor, and a user has one at most.
  expect(() => sqlite.run(codes)).toThrow("FOREIGN KEY");
  sqlite.run(factor);
  sqlite.run(codes);
  expect(() => sqlite.run(factor)).toThrow("UNIQUE");
  sqlite.run("DELETE FROM second_factors");
  expect(countAll()).toEqual([0, 0, 0]);
  sqlite.run(factor);
  sqlite.run(codes);
  sqlite.run(
    "INSERT INTO sign_in_steps (hash, user_id, tries, expires_at) VALUES (zeroblob(32), 'usr_1', 5, 1)",
  );
  expect(old.rows("SELECT is_recovery FROM sign_in_steps")).toEqual([{ is_recovery: 0 }]);
  expect(countAll()).toEqual([1, 1, 1]);
  sqlite.run("DELETE FROM users");
  expect(countAll()).toEqual([0, 0, 0]);
  expectSound(sqlite);
});
