import { expect, test } from "bun:test";
import { folderAddress } from "../../../src/base/store-address";
import { followLeader } from "../../../src/fleet/replica/follow-leader";
import { createSignal } from "../../../src/base/signal";
import { createTestClock } from "../../support/clock";
import { createMemoryStore } from "../../support/fleet/memory-store";
import { createTestLog } from "../../support/log";
import { temporaryFolder } from "../../support/temporary-folder";

test("a replica that waits for the record of a primary names the store, and ends when it is to stop", async () => {
  using folder = temporaryFolder();
  const clock = createTestClock();
  const { log, lines } = createTestLog("info");
  const store = createMemoryStore();
  const stop = Promise.withResolvers<void>();
  const litestream = {
    program: "/nowhere/litestream",
    store: folderAddress(folder.path),
    credentials: undefined,
  };
  const following = followLeader(
    { leader: store, files: store, litestream },
    { record: () => undefined, isAlive: () => false, changed: createSignal(), stop() {} },
    {
      folder: folder.path,
      node: "node_a",
      clock,
      log,
      hasHints: () => false,
      stopRequested: stop.promise,
    },
  );
  await clock.advance(10_000);
  expect(lines).toMatchObject([{ store: store.name, msg: expect.stringContaining("waiting") }]);
  stop.resolve();
  expect(await following).toBeUndefined();
});
