import { expect } from "bun:test";
import { describeWithPrograms } from "../support/fleet/describe";
import { eventually } from "../support/fleet/eventually";
import { applyPage, createKeyAt } from "../support/fleet/keys";
import { startLink } from "../support/fleet/link";
import { durationMs, expectWithin, report, rounds, waitingTest } from "../support/long";
import { type FleetNode, startNode } from "../support/fleet/nodes";
import { startS3 } from "../support/fleet/s3";

/** Longest time for which a replica may accept a key that the store shows as revoked, in ms. */
const LIMIT_MS = 2_000;
const PAUSE_MS = 20;

async function isAccepted(node: FleetNode, key: string): Promise<boolean> {
  return (await node.call("/api/v1/components", { key })).status === 200;
}

/** Returns the time in ms until a replica no longer accepts a key. */
async function untilRefused(replica: FleetNode, key: string): Promise<number> {
  const since = performance.now();
  while (await isAccepted(replica, key)) await Bun.sleep(PAUSE_MS);
  return performance.now() - since;
}

const needed = { go: ["litestream", "versitygw"] } as const;
await describeWithPrograms("keys at a replica, known by the listing of the store", needed, () => {
  waitingTest(
    "a key that is revoked on the primary is refused within two seconds",
    async () => {
      await using store = await startS3();
      await using primary = await startNode({ store, path: "fleet" });
      await applyPage(primary);
      const writer = await createKeyAt(primary, "write:incidents");
      await using replica = await startNode({ store, path: "fleet", args: ["--replica"] });
      const times: number[] = [];
      for (let round = 0; round < rounds(3, 200); round++) {
        const { id, value } = await createKeyAt(primary, "read:status");
        await eventually("the replica accepts the key", () => isAccepted(replica, value));
        expect((await primary.run("key", "revoke", id)).code).toBe(0);
        // An acknowledged write: whatever was committed before is in the store.
        const body = { page: "acme", name: "Down", body: "It is down." };
        const made = await primary.call("/api/v1/incidents", {
          method: "POST",
          key: writer.value,
          body,
        });
        expect([made.status, made.headers.get("allclear-durability")]).toEqual([201, null]);
        times.push(await untilRefused(replica, value));
      }
      const maxMs = Math.max(...times);
      report("revocation", { rounds: times.length, maxMs: Math.round(maxMs) });
      expectWithin(maxMs, LIMIT_MS);
    },
    durationMs(600_000, 1_800_000),
  );

  waitingTest(
    "without the store keys are refused within two seconds, pages are served, and keys work again later",
    async () => {
      await using store = await startS3();
      await using link = await startLink(store.port);
      await using primary = await startNode({ store, path: "fleet" });
      await applyPage(primary);
      const { value } = await createKeyAt(primary, "read:status");
      const args = ["--replica"];
      await using replica = await startNode({ store, path: "fleet", storePort: link.port, args });
      await eventually("the replica accepts the key", () => isAccepted(replica, value));
      for (const fail of [() => link.cut(), () => link.stall()]) {
        await fail();
        expectWithin(await untilRefused(replica, value), LIMIT_MS + 500);
        const refused = await replica.call("/api/v1/components", { key: value });
        expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "2"]);
        expect((await replica.call("/readyz/api")).status).toBe(503);
        expect((await replica.call("/readyz")).status).toBe(200);
        expect((await replica.call("/status/acme")).status).toBe(200);
        await link.mend();
        await eventually("the replica accepts the key again", () => isAccepted(replica, value));
      }
    },
    600_000,
  );
});
