import { expect, test } from "bun:test";
import { MIGRATIONS } from "../../src/db/migrations";
import { readAllTables } from "../support/database-dump";
import { emptyTables, expectSound, openOldDatabase } from "../support/old-database";
import { temporaryFolder } from "../support/temporary-folder";

const ROWS = `
  INSERT INTO pages VALUES ('page_1', 'acme', 'acme', 'Acme', NULL, 'UTC', 'en', 'public', 'system',
    NULL, 90, 1, 0, 'apply', 7, 1, 3, 1, 1, NULL, '[]', NULL, '{}');
  INSERT INTO component_groups VALUES ('grp_1', 'page_1', 'core', 'Core', NULL, 0, 'expanded', NULL, 1, 1, 1, NULL);
  INSERT INTO components (id, page_id, ref, name, position, status, baseline_status, showcase,
    only_show_if_degraded, version, created_at, updated_at)
    VALUES ('cmp_2', 'page_1', 'b', 'B', 1, 'operational', 'operational', 1, 0, 1, 1, 1),
      ('cmp_1', 'page_1', 'a', 'A', 0, 'operational', 'operational', 1, 0, 1, 1, 1);
`;

test("the upgrade numbers all objects, and later ones get the next numbers", () => {
  using folder = temporaryFolder();
  const before = MIGRATIONS.findIndex(({ name }) => name === "compat");
  using old = openOldDatabase(folder.path, before, ROWS);
  const tables = readAllTables(old.sqlite);
  old.upgrade(before + 1);
  const numbers = [
    { range: "entry", number: 1_000_000, id: "cmp_1" },
    { range: "entry", number: 1_000_001, id: "cmp_2" },
    { range: "group", number: 1_000_000, id: "grp_1" },
    { range: "page", number: 1_000_000, id: "page_1" },
  ];
  expect(readAllTables(old.sqlite)).toEqual({
    ...tables,
    ...emptyTables(["compat_keys"]),
    pages: (tables["pages"] ?? []).map((row) => ({ ...row, compat: "[]" })),
    compat_numbers: numbers,
  });
  expectSound(old.sqlite);
  const copy = (id: string) =>
    old.sqlite
      .run(`INSERT INTO components (id, page_id, ref, name, position, status, baseline_status, showcase,
      only_show_if_degraded, version, created_at, updated_at)
      SELECT '${id}', page_id, '${id}', name, 2, status, status, 1, 0, 1, 1, 1 FROM components WHERE id = 'cmp_1'`);
  const numberOf = (id: string) =>
    old.rows(`SELECT number FROM compat_numbers WHERE id = '${id}'`)[0]?.["number"];
  copy("cmp_3");
  expect(numberOf("cmp_3")).toBe(1_000_002);
  // The number of an erased object is not used again.
  old.sqlite.run("DELETE FROM components WHERE id = 'cmp_3'");
  copy("cmp_4");
  expect(numberOf("cmp_4")).toBe(1_000_003);
  const kept = readAllTables(old.sqlite);
  old.upgrade(before + 2);
  expect(readAllTables(old.sqlite)).toEqual(kept);
  expectSound(old.sqlite);
  // Kept numbers as large as they can be do not keep later objects from getting one.
  const keep = (number: string) =>
    old.sqlite.run(`UPDATE compat_numbers SET number = ${number} WHERE id = 'cmp_4'`);
  for (const number of ["0", "-1", "9007199254740992", "9223372036854775807"]) {
    expect(() => keep(number)).toThrow("CHECK");
  }
  keep(String(Number.MAX_SAFE_INTEGER));
  copy("cmp_5");
  expect(numberOf("cmp_5")).toBe(1_000_003);
});
