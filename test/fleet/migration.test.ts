import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { migrate, type Migration, MIGRATIONS, SCHEMA_VERSION } from "../../src/db/migrations";
import { COMMAND_BUSY_TIMEOUT_MS, openSqlite } from "../../src/db/open";
import { describeWithPrograms } from "../support/fleet/describe";
import { eventually } from "../support/fleet/eventually";
import { type FleetNode, startNode } from "../support/fleet/nodes";
import { startS3 } from "../support/fleet/s3";

const PAGE = "pages:\n  - slug: acme\n    name: Acme\n    components:\n      - name: API\n";

/** A migration that all replicas can read behind, and one that the replica of the test cannot. */
const ADDING: Migration = {
  number: SCHEMA_VERSION + 1,
  name: "adding",
  sql: "CREATE TABLE further (id INTEGER PRIMARY KEY) STRICT;",
  readableFrom: SCHEMA_VERSION,
};
const RENAMING: Migration = {
  number: SCHEMA_VERSION + 2,
  name: "renaming",
  sql: "ALTER TABLE components RENAME COLUMN description TO details;",
};

/** Applies migrations of a later version beside the running primary. */
function upgrade(primary: FleetNode, ...later: readonly Migration[]): void {
  using sqlite = openSqlite(join(primary.folder, "allclear.db"), COMMAND_BUSY_TIMEOUT_MS);
  migrate(sqlite, undefined, [...MIGRATIONS, ...later]);
}

/** Reads a path again and again, and counts the statuses of the answers. */
function readAlways(node: FleetNode, path: string, key: string) {
  const counts: Record<number, number> = {};
  let isStopped = false;
  const reading = (async () => {
    while (!isStopped) {
      const { status } = await node.call(path, { key });
      counts[status] = (counts[status] ?? 0) + 1;
    }
  })();
  return {
    counts,
    async [Symbol.asyncDispose]() {
      isStopped = true;
      await reading;
    },
  };
}

await describeWithPrograms(
  "a migration by the primary",
  { go: ["litestream", "versitygw"] },
  () => {
    test("replicas that can read behind it go on, and others serve the pages that they have in memory", async () => {
      await using store = await startS3();
      await using primary = await startNode({ store, path: "fleet" });
      writeFileSync(join(primary.folder, "acme.yaml"), PAGE);
      await primary.run("apply", join(primary.folder, "acme.yaml"));
      const scopes = ["--scope", "read:status", "--scope", "write:incidents"];
      const limit = ["--rate-limit", "100000"];
      const made = await primary.run("key", "create", "--name", "test", ...scopes, ...limit);
      const key = /allclear_\w+/.exec(made.stdout)?.[0] ?? made.stderr;
      await using replica = await startNode({
        store,
        path: "fleet",
        args: ["--replica"],
        env: { ALLCLEAR_PUBLIC_RATE_LIMIT: "100000" },
      });
      const statusOf = async (path: string) => (await replica.call(path, { key })).status;
      const schema = async () =>
        ((await (await replica.call("/readyz")).json()) as { schema: number }).schema;
      await eventually("the replica answers", async () => (await statusOf("/readyz/api")) === 200);
      expect(await statusOf("/status/acme")).toBe(200);

      await using pages = readAlways(replica, "/status/acme", key);
      await using lists = readAlways(replica, "/api/v1/components", key);
      upgrade(primary, ADDING);
      await eventually("the replica has the table", async () => (await schema()) === ADDING.number);
      expect(await statusOf("/readyz/api")).toBe(200);
      const body = { page: "acme", name: "After the upgrade", body: "It is down." };
      expect((await primary.call("/api/v1/incidents", { method: "POST", key, body })).status).toBe(
        201,
      );
      await eventually("the replica shows a change", async () =>
        (await (await replica.call("/status/acme")).text()).includes("After the upgrade"),
      );

      upgrade(primary, ADDING, RENAMING);
      await eventually("the replica cannot read", async () => (await schema()) === RENAMING.number);
      const refused = await replica.call("/readyz/api");
      expect([refused.status, await refused.text()]).toEqual([
        503,
        expect.stringContaining("Upgrade this replica."),
      ]);
      expect(await (await replica.call("/status/acme")).text()).toContain("After the upgrade");
      expect(await statusOf("/api/v1/components")).toBe(503);
      expect(await statusOf("/readyz")).toBe(200);

      expect(Object.keys(pages.counts)).toEqual(["200"]);
      expect(Object.keys(lists.counts)).toEqual(["200", "503"]);
    }, 600_000);
  },
);
