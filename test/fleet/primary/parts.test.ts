import { expect, test } from "bun:test";
import { openDataDirectory } from "../../../src/db/data-directory";
import { createPrimaryParts } from "../../../src/fleet/primary/primary";
import { createTestApp } from "../../support/app";
import { createTestAlarms } from "../../support/fleet/leader";
import { createMemoryStore } from "../../support/fleet/memory-store";
import { temporaryFolder } from "../../support/temporary-folder";

test("the wait of a purge for all nodes is no write, so it counts none as acknowledged before its upload", async () => {
  await using app = await createTestApp();
  using folder = temporaryFolder();
  const store = createMemoryStore();
  const calls: string[] = [];
  const parts = createPrimaryParts({
    ctx: app.ctx,
    alarms: createTestAlarms() as never,
    directory: openDataDirectory(folder.path),
    node: { id: "node_a", term: 1 },
    valkey: undefined,
    store: { leader: store, files: store, litestream: undefined as never },
    primaryship: {
      figures: () => ({ txid: 7, localWrites: 0, restarts: 0 }),
      waitForUpload: async () => void calls.push("write"),
      async upload() {
        calls.push("upload");
        return 7;
      },
    } as never,
  });
  await parts.whenApplied();
  expect(calls).toEqual(["upload"]);
  parts.stop();
});
