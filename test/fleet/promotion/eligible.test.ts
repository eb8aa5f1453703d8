import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openDataDirectory } from "../../../src/db/data-directory";
import { prepareFollowed } from "../../../src/db/followed-database";
import { migrate } from "../../../src/db/migrations";
import { closeSqlite, openSqlite } from "../../../src/db/open";
import { noteReplicaFile, replicaFolder } from "../../../src/fleet/node";
import { openEligible } from "../../../src/fleet/run-node";
import { testConfig } from "../../support/app";
import { FLEET_SECRET } from "../../support/fleet/nodes";
import { temporaryFolder } from "../../support/temporary-folder";

test("the first node of a new fleet is the primary, unless it has the copy of a replica", async () => {
  using folder = temporaryFolder();
  const config = {
    ...testConfig({
      ALLCLEAR_DATA_DIR: join(folder.path, "data"),
      ALLCLEAR_FLEET_STORE: `file://${join(folder.path, "store")}`,
      ALLCLEAR_FLEET_SECRET: FLEET_SECRET,
      ALLCLEAR_LOG_LEVEL: "silent",
    }),
    failover: "automatic" as const,
  };
  const directory = openDataDirectory(config.dataDir);
  const copies = replicaFolder(directory);
  mkdirSync(copies, { recursive: true });
  const path = join(copies, "replica.db");
  const sqlite = openSqlite(path, 0);
  migrate(sqlite, undefined);
  closeSqlite(sqlite);
  prepareFollowed(path, 1);
  noteReplicaFile(copies, { path, prefix: "term-000001-1" });
  expect(await openEligible(config, directory).findPlaceAtStart()).toBe("replica");

  const empty = openDataDirectory(join(folder.path, "empty"));
  const other = { ...config, dataDir: empty.path };
  expect(await openEligible(other, empty).findPlaceAtStart()).toBe("primary");
});
