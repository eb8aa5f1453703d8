import { expect, test } from "bun:test";
import { MIGRATIONS } from "../../src/db/migrations";
import { expectSound, openOldDatabase } from "../support/old-database";
import { temporaryFolder } from "../support/temporary-folder";

test("after the upgrade no page has a rule for visitors, and rules go with their page", () => {
  using folder = temporaryFolder();
  const before = MIGRATIONS.findIndex(({ name }) => name === "private_pages");
  using old = openOldDatabase(
    folder.path,
    before,
    `INSERT INTO pages (id, ref, slug, name, time_zone, locale, visibility, theme, history_days,
        is_default, is_sample, content_version, content_changed_at, version, created_at, updated_at)
      VALUES ('page_1', 'acme', 'acme', 'Acme', 'UTC', 'en', 'private', 'system', 90, 1, 0, 1, 1, 1, 1, 1)`,
  );
  old.upgrade(before + 1);
  const { sqlite } = old;
  expect(sqlite.query("SELECT networks, password_id, has_links FROM pages").all()).toEqual([
    { networks: "[]", password_id: null, has_links: 0 },
  ]);
  sqlite.run("INSERT INTO page_passwords VALUES ('page_1', 'hash')");
  sqlite.run(
    "INSERT INTO page_links (id, page_id, name, hash, created_at) VALUES ('lnk_1', 'page_1', 'A', x'01', 1)",
  );
  sqlite.run("DELETE FROM pages");
  for (const table of ["page_passwords", "page_links"]) {
    expect(sqlite.query(`SELECT * FROM ${table}`).all()).toEqual([]);
  }
  expectSound(sqlite);
});
