import { expect, test } from "bun:test";
import { MIGRATIONS } from "../../src/db/migrations";
import { sha256Hex } from "../../src/base/hash";
import { readAllTables } from "../support/database-dump";
import { emptyTables, expectSound, openOldDatabase } from "../support/old-database";
import { temporaryFolder } from "../support/temporary-folder";

const ROWS = `
  INSERT INTO monitors (id, num, ref, name, type, config, interval_seconds, timeout_ms, failure_threshold,
      success_threshold, retry_interval_seconds, on_down, open_incident, paused, version, created_at, updated_at)
    VALUES ('mon_1', 1, 'job', 'Job', 'push', '{}', 60, 1000, 1, 1, 10, 'partial_outage', 'never', 0, 3, 5, 9);
  INSERT INTO monitor_tokens VALUES (X'${sha256Hex("a")}', 'mon_1', 'native', 5);
`;

/** Opens a database from before signals were kept, with a monitor that has a token. */
function openOld(folder: string) {
  const before = MIGRATIONS.findIndex(({ name }) => name === "heartbeat_runs");
  return { before, old: openOldDatabase(folder, before, ROWS) };
}

test("the upgrade keeps all tokens as never used, without signals and runs", () => {
  using folder = temporaryFolder();
  const { before, old } = openOld(folder.path);
  using _ = old;
  const tables = readAllTables(old.sqlite);
  expect(old.upgrade(before + 1)).toMatchObject({ from: before, to: before + 1 });
  expect(readAllTables(old.sqlite)).toEqual({
    ...tables,
    monitor_tokens: (tables["monitor_tokens"] ?? []).map((row) => ({ ...row, last_used_at: null })),
    ...emptyTables(["heartbeat_runs", "heartbeat_signals"]),
  });
  expectSound(old.sqlite);
});

test("signals and runs are deleted with the row of their monitor, and need one", () => {
  using folder = temporaryFolder();
  const { old } = openOld(folder.path);
  using _ = old;
  old.upgrade();
  const signal = "INSERT INTO heartbeat_signals (monitor_num, position, at, kind, rid)";
  old.sqlite.run(`${signal} VALUES (1, 1, 5, 'start', '')`);
  old.sqlite.run("INSERT INTO heartbeat_runs VALUES (1, '', 5)");
  expect(() => old.sqlite.run(`${signal} VALUES (2, 1, 5, 'start', '')`)).toThrow("FOREIGN KEY");
  expect(() => old.sqlite.run(`${signal} VALUES (1, 2, 5, 'stop', '')`)).toThrow("CHECK");
  old.sqlite.run("DELETE FROM monitors");
  expect(old.rows("SELECT * FROM heartbeat_signals")).toEqual([]);
  expect(old.rows("SELECT * FROM heartbeat_runs")).toEqual([]);
});
