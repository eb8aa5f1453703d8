import { expect, test } from "bun:test";
import { describeLongRun } from "../support/fleet/describe";
import { eventually } from "../support/fleet/eventually";
import { killMachine, percentile, startFleet } from "../support/fleet/fleet";
import { durationMs, expectWithin, report, rounds } from "../support/long";
import type { FleetNode } from "../support/fleet/nodes";

const ARGS = ["--failover", "automatic", "--eligible", "--rejoin"];

/** Returns role and term of a node; undefined while it does not answer. */
async function stateOf(node: FleetNode): Promise<string | undefined> {
  const answer = await node.call("/readyz").catch(() => undefined);
  const { role, term } = ((await answer?.json().catch(() => undefined)) ?? {}) as {
    role?: string;
    term?: number;
  };
  return role && `${role} ${term}`;
}

await describeLongRun("two candidates", { go: ["versitygw", "litestream"] }, () => {
  test(
    "of a primary that is killed make one of them the next one, which the others follow",
    async () => {
      const all = rounds(1, 50);
      const back: number[] = [];
      for (let round = 0; round < all; round++) {
        await using fleet = await startFleet({ replicas: 2, args: ARGS });
        const { primary, replicas, key } = fleet;
        const write = (node: FleetNode, name: string) =>
          node.call("/api/v1/incidents", {
            method: "POST",
            key,
            body: { page: "acme", name, body: "x" },
          });
        expect((await write(primary, "Before")).status).toBe(201);
        await killMachine(primary);
        const killedAt = performance.now();
        const states = async () => (await Promise.all(replicas.map(stateOf))).toSorted();
        await eventually("one is the primary", async () => (await states())[0] === "primary 2");
        const next = replicas[(await stateOf(replicas[0] as FleetNode)) === "primary 2" ? 0 : 1];
        if (!next) throw new Error("there is no primary");
        expect((await write(next, "After")).status).toBe(201);
        back.push(performance.now() - killedAt);
        await eventually(
          "the other follows it",
          async () => (await states()).join() === "primary 2,replica 2",
        );
        await primary.restart();
        for (const node of [primary, ...replicas]) {
          await eventually("all show both incidents", async () => {
            const page = await (await node.call("/status/acme")).text();
            return page.includes("Before") && page.includes("After");
          });
        }
        expect(await stateOf(primary)).toBe("replica 2");
      }
      const figures = { backP50Ms: percentile(back, 0.5), backMaxMs: percentile(back, 1) };
      report("two candidates", { rounds: all, ...figures });
      expectWithin(figures.backMaxMs, 25_000);
    },
    durationMs(600_000, 3_600_000),
  );
});
