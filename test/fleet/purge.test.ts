import { expect, test } from "bun:test";
import { fleetToken, TOKEN_HEADER } from "../../src/fleet/store";
import { describeWithPrograms } from "../support/fleet/describe";
import { eventually } from "../support/fleet/eventually";
import { applyPage, createKeyAt } from "../support/fleet/keys";
import { FLEET_SECRET, startNode } from "../support/fleet/nodes";
import { startS3 } from "../support/fleet/s3";
import { expectWithin } from "../support/long";

const needed = { go: ["litestream", "versitygw"] } as const;
await describeWithPrograms("a purge of a fleet", needed, () => {
  test("comes once the replica shows the change, within the three seconds that it waits at most", async () => {
    const purges: (() => Promise<void>)[] = [];
    using cdn = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      async fetch() {
        await purges.shift()?.();
        return new Response();
      },
    });
    await using store = await startS3();
    await using primary = await startNode({
      store,
      path: "fleet",
      env: {
        ALLCLEAR_CDN: "60",
        ALLCLEAR_PURGE_URL: `http://127.0.0.1:${cdn.port}/`,
        ALLCLEAR_OUTBOUND_ALLOW: "127.0.0.0/8",
      },
    });
    await applyPage(primary);
    const { value: key } = await createKeyAt(primary, "write:incidents");
    await using replica = await startNode({ store, path: "fleet", args: ["--replica"] });
    const page = async () => (await replica.call("/status/acme")).text();
    await eventually("the replica shows the page", async () => (await page()).includes("Acme"));
    await eventually("the primary knows the replica", async () => {
      const { nodes } = (await (
        await fetch(`${primary.privateUrl}/fleet/v1/nodes`, {
          headers: { [TOKEN_HEADER]: fleetToken(FLEET_SECRET) },
        })
      ).json()) as { nodes: unknown[] };
      return nodes.length === 2;
    });
    for (const name of ["First", "Second", "Third"]) {
      const shown = Promise.withResolvers<string>();
      // Repeated purges of earlier changes may come before.
      const since = performance.now();
      const body = { page: "acme", name: `${name} incident`, body: "It is down." };
      purges.push(async () => shown.resolve(await page()));
      await primary.call("/api/v1/incidents", { method: "POST", key, body });
      expect(await shown.promise).toContain(`${name} incident`);
      expectWithin(performance.now() - since, 5_000);
      // The repeated purge of this change.
      const repeated = Promise.withResolvers<void>();
      purges.push(async () => repeated.resolve());
      await repeated.promise;
    }
  }, 600_000);
});
