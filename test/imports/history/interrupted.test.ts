import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { openForCommand } from "../../../src/installation";
import { PROCESS_TEST_MS } from "../../support/binary";
import { testConfig } from "../../support/app";
import { TEST_START } from "../../support/clock";
import { startChild } from "../../support/child";
import { dumpRows } from "../../support/past-dump";
import { longFound } from "../../support/long-past";
import { importPast } from "../../support/past-source";
import { temporaryFolder } from "../../support/temporary-folder";
import { hasTinyDisks, mountTinyDisk } from "../../support/tiny-disk";

setDefaultTimeout(PROCESS_TEST_MS);

const NOW = TEST_START;

/** Imports in a process, and kills it after a number of steps. Returns true if it ended before. */
async function importAndKill(dataDir: string, steps: number): Promise<boolean> {
  await using child = startChild("import-past.ts", dataDir, String(NOW));
  for (let step = 0; step < steps; step += 1) {
    if ((await child.line()) === "done") return true;
  }
  await child.kill();
  return false;
}

function rowsIn(dataDir: string) {
  const config = testConfig({ ALLCLEAR_DATA_DIR: dataDir, ALLCLEAR_LOG_LEVEL: "silent" });
  const { ctx, close } = openForCommand(config, "test", { canCreate: false });
  try {
    return dumpRows({ ctx });
  } finally {
    close();
  }
}

test("kill -9 at any point of a history loses nothing that the next import does not write", async () => {
  using folder = temporaryFolder();
  const [whole, killed] = [join(folder.path, "whole"), join(folder.path, "killed")];
  expect(await importAndKill(whole, Number.POSITIVE_INFINITY)).toBe(true);
  expect(await importAndKill(killed, 1)).toBe(false);
  // Each run gets further than the one before, or as far. A process that is killed late may have written the rest.
  for (const count of [3, 6, 8, 11, 14, 15]) await importAndKill(killed, count);
  expect(await importAndKill(killed, Number.POSITIVE_INFINITY)).toBe(true);
  expect(rowsIn(killed)).toEqual(rowsIn(whole));
});

test.skipIf(!hasTinyDisks())("a full disk stops a history, which goes on with space", async () => {
  using disk = mountTinyDisk("24m");
  const open = (name: string) => {
    const dataDir = join(disk.path, name);
    const config = testConfig({ ALLCLEAR_DATA_DIR: dataDir, ALLCLEAR_LOG_LEVEL: "silent" });
    const { ctx, close } = openForCommand(config, "import", { canCreate: true });
    const clock = { ...ctx.clock, now: () => NOW };
    return { ctx: { ...ctx, clock }, [Symbol.dispose]: close };
  };
  using full = open("full");
  await importPast(full, longFound(NOW), { historyDays: 0 });
  disk.fill(600_000);
  const steps: number[] = [];
  const stopped = importPast(full, longFound(NOW), {}, ({ rows }) => steps.push(rows));
  await expect(stopped).rejects.toThrow("Nothing was written; try again.");
  expect(steps.length).toBeGreaterThan(2);
  disk.free();
  const { history } = await importPast(full, longFound(NOW));
  expect(history).toMatchObject({ days: 121 });
  using whole = open("whole");
  await importPast(whole, longFound(NOW));
  expect(dumpRows(full)).toEqual(dumpRows(whole));
});
