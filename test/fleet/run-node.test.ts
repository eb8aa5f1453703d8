import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openDataDirectory, tryLock } from "../../src/db/data-directory";
import { runNode } from "../../src/fleet/run-node";
import { testConfig } from "../support/app";
import { FLEET_SECRET } from "../support/fleet/nodes";
import { temporaryFolder } from "../support/temporary-folder";

test("a node decides nothing while another process has the lock of its data directory", async () => {
  using folder = temporaryFolder();
  const data = join(folder.path, "data");
  const store = join(folder.path, "store");
  const config = testConfig({
    ALLCLEAR_DATA_DIR: data,
    ALLCLEAR_FLEET_STORE: `file://${store}`,
    ALLCLEAR_FLEET_SECRET: FLEET_SECRET,
    ALLCLEAR_LOG_LEVEL: "silent",
  });
  const lock = tryLock(openDataDirectory(data), "serve");
  const run = runNode(config, {
    announce() {},
    announceReplica() {},
    stopRequested: Promise.resolve(),
    isReplica: true,
    isEligible: true,
    rejoins: false,
  });
  await expect(run).rejects.toThrow("is in use by process");
  expect(existsSync(join(data, "fleet"))).toBe(false);
  expect(existsSync(store)).toBe(false);
  lock?.release();
});
