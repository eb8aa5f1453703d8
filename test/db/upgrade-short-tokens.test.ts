import { expect, test } from "bun:test";
import { MIGRATIONS } from "../../src/db/migrations";
import { sha256Hex } from "../../src/base/hash";
import { readAllTables } from "../support/database-dump";
import { expectSound, openOldDatabase } from "../support/old-database";
import { temporaryFolder } from "../support/temporary-folder";

const ROWS = `
  INSERT INTO monitors (id, num, ref, name, type, config, interval_seconds, timeout_ms, failure_threshold,
      success_threshold, retry_interval_seconds, on_down, open_incident, paused, version, created_at, updated_at)
    VALUES ('mon_1', 1, 'job', 'Job', 'push', '{}', 60, 1000, 1, 1, 10, 'partial_outage', 'never', 0, 3, 5, 9);
  INSERT INTO monitor_tokens (hash, monitor_id, kind, created_at)
    VALUES (X'${sha256Hex("a")}', 'mon_1', 'kuma', 5);
`;

test("the upgrade keeps all tokens, of which none is known to be short", () => {
  using folder = temporaryFolder();
  const before = MIGRATIONS.findIndex(({ name }) => name === "short_tokens");
  using old = openOldDatabase(folder.path, before, ROWS);
  const tables = readAllTables(old.sqlite);
  expect(old.upgrade(before + 1)).toMatchObject({ from: before, to: before + 1 });
  expect(readAllTables(old.sqlite)).toEqual({
    ...tables,
    monitor_tokens: (tables["monitor_tokens"] ?? []).map((row) => ({ ...row, is_short: null })),
  });
  expectSound(old.sqlite);
  expect(() => old.sqlite.run("UPDATE monitor_tokens SET is_short = 2")).toThrow("CHECK");
});
