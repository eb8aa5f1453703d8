import { expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openDataDirectory } from "../../../src/db/data-directory";
import { folderAddress } from "../../../src/base/store-address";
import { readNode } from "../../../src/fleet/node";
import { createPrimaryship } from "../../../src/fleet/primary/primaryship";
import { systemRandom } from "../../../src/base/hash";
import { createTestApp } from "../../support/app";
import { settle } from "../../support/clock";
import { createTestAlarms } from "../../support/fleet/leader";
import { createMemoryStore } from "../../support/fleet/memory-store";
import { temporaryFolder } from "../../support/temporary-folder";

/** Stands for Litestream: it has a version, and leaves the number of its process. */
const PROGRAM = `#!/bin/sh
if [ "$1" = version ]; then echo v0.5.18; exit; fi
echo $$ > "$0.pid"
exec sleep 60
`;

test("a primary that stops while it takes the lease leaves neither lease nor Litestream behind", async () => {
  await using app = await createTestApp();
  using folder = temporaryFolder();
  const directory = openDataDirectory(folder.path);
  const leader = createMemoryStore();
  const program = join(folder.path, "litestream");
  writeFileSync(program, PROGRAM, { mode: 0o755 });
  const litestream = { program, store: folderAddress(folder.path), credentials: undefined };
  const { clock } = app;
  const primary = createPrimaryship({
    ctx: app.ctx,
    alarms: createTestAlarms() as never,
    directory,
    node: readNode(directory, systemRandom),
    store: { leader, files: leader, litestream },
  });
  leader.isDown = true;
  expect(await primary.begin()).toBeUndefined();
  leader.isDown = false;
  const answered = Promise.withResolvers<void>();
  leader.hold = () => answered.promise;
  await clock.advance(5_000);
  let isStopped = false;
  const stopping = primary.stop().then(() => (isStopped = true));
  await settle();
  expect(isStopped).toBe(false);
  leader.hold = undefined;
  answered.resolve();
  await stopping;
  const file = `${program}.pid`;
  // The program may have ended before it had written its number, or even before it had created the file.
  const pid = existsSync(file) ? readFileSync(file, "utf8").trim() : "";
  if (pid !== "") expect(() => process.kill(Number(pid), 0)).toThrow();
  const writes = leader.counts.put;
  await clock.advance(60_000);
  expect(leader.counts.put).toBe(writes);
});
