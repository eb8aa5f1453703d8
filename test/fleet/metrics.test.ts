import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describeWithPrograms } from "../support/fleet/describe";
import { eventually } from "../support/fleet/eventually";
import { applyPage, createKeyAt } from "../support/fleet/keys";
import { type FleetNode, startNode } from "../support/fleet/nodes";
import { startRedis } from "../support/fleet/redis";
import { startS3 } from "../support/fleet/s3";
import { temporaryFolder } from "../support/temporary-folder";

/** Returns the metrics of a role that docs/fleet.md lists. */
function documentedFor(role: "primary" | "replica"): string[] {
  const text = readFileSync(join(import.meta.dir, "../../docs/fleet.md"), "utf8");
  return Array.from(text.matchAll(/^\| `(allclear_\w+)` \| (all|primary|replica)\b/gm))
    .filter(([, , node]) => node === "all" || node === role)
    .map(([, name = ""]) => name)
    .sort();
}

async function metricsOf(node: FleetNode, key: string): Promise<string> {
  return (await node.call("/metrics", { key })).text();
}

/** Returns the names of the metrics of a fleet. */
function namesIn(metrics: string): string[] {
  const types = metrics.matchAll(/^# TYPE (allclear_(?:fleet_|limits_local_)\w+) /gm);
  return Array.from(types, ([, name = ""]) => name).sort();
}

await describeWithPrograms(
  "the metrics of a fleet",
  { go: ["litestream", "versitygw"], debian: ["redis-server"] },
  () => {
    test("each role has those of the documentation, with its own figures", async () => {
      await using store = await startS3();
      await using redis = await startRedis();
      using mirror = temporaryFolder();
      const env = { ALLCLEAR_VALKEY_URL: redis.url };
      await using primary = await startNode({
        store,
        path: "fleet",
        env: { ...env, ALLCLEAR_MIRROR: mirror.path },
      });
      await applyPage(primary);
      const { value: reader } = await createKeyAt(primary, "read:analytics");
      const { value: writer } = await createKeyAt(primary, "write:incidents");
      await using replica = await startNode({ store, path: "fleet", args: ["--replica"], env });
      await eventually(
        "the replica accepts the key",
        async () => (await replica.call("/metrics", { key: reader })).status === 200,
      );
      const body = { page: "acme", name: "Down", body: "It is down." };
      const made = await replica.call("/api/v1/incidents", { method: "POST", key: writer, body });
      expect(made.status).toBe(201);

      const own = await metricsOf(primary, reader);
      expect(namesIn(own)).toEqual(documentedFor("primary"));
      expect(own).toContain('allclear_fleet_role{role="primary"} 1');
      expect(own).toContain("allclear_fleet_orphans 0");
      const others = await metricsOf(replica, reader);
      expect(namesIn(others)).toEqual(documentedFor("replica"));
      expect(others).toContain('allclear_fleet_role{role="replica"} 1');
      expect(others).toContain("allclear_fleet_term 1");
      expect(others).toContain('allclear_fleet_forwards_total{outcome="answered"} 1');
      expect(others).toContain("allclear_fleet_orphans 0");
    }, 600_000);
  },
);
