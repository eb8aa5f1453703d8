import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folderAddress } from "../../../src/base/store-address";
import { startReplication } from "../../../src/fleet/log/replication";
import { createTestClock } from "../../support/clock";
import { eventually } from "../../support/fleet/eventually";
import { createTestLog } from "../../support/log";
import { temporaryFolder } from "../../support/temporary-folder";

test("Litestream is started again until it can be, also if its program is missing for a while", async () => {
  using folder = temporaryFolder();
  const clock = createTestClock();
  const { log, lines } = createTestLog("error");
  const program = join(folder.path, "litestream");
  const write = (script: string) => {
    writeFileSync(program, `#!/bin/sh\n${script}\n`);
    chmodSync(program, 0o755);
  };
  write("exit 1");
  for (const name of ["term-000001-1", "term-000007-1", "replica"]) {
    mkdirSync(join(folder.path, "fleet", name), { recursive: true });
  }
  const replication = await startReplication(
    {
      clock,
      log,
      litestream: { program, store: folderAddress(folder.path), credentials: undefined },
      database: join(folder.path, "allclear.db"),
      folder: join(folder.path, "fleet"),
    },
    "term-000001-1",
  );
  const says = (text: string) => lines.some((line) => JSON.stringify(line).includes(text));
  await eventually("the first process has ended", async () => says("Litestream ended"));
  rmSync(program);
  await clock.advance(500);
  expect(says("Litestream cannot be started")).toBe(true);
  write("exec sleep 60");
  await clock.advance(1_000);
  expect(replication.restarts).toBe(2);
  await replication.stop();
  // What Litestream kept of another log is removed.
  const kept = readdirSync(join(folder.path, "fleet"));
  expect(kept.filter((name) => !name.startsWith("litestream")).toSorted()).toEqual([
    "replica",
    "term-000001-1",
  ]);
});
