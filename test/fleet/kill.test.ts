import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { describeWithPrograms } from "../support/fleet/describe";
import { eventually } from "../support/fleet/eventually";
import { report, rounds, durationMs } from "../support/fleet/long";
import { type FleetNode, startNode } from "../support/fleet/nodes";
import { connectTo, litestreamPid, type PrimaryClient } from "../support/fleet/primary";
import { startS3 } from "../support/fleet/s3";

/** Clients that write at the same time, and the pause of each after a write, in ms: 100 writes a second together. */
const CLIENTS = 5;
const PAUSE_MS = 50;
const WRITING_MS = 1_500;

/** Writes of one round. */
interface Written {
  /** Names whose write was acknowledged, by its durability. */
  acknowledged: { replicated: string[]; local: string[] };
  sent: number;
}

/** Writes at a node with all clients until `isOver` returns true. */
async function write(
  client: PrimaryClient,
  node: FleetNode,
  round: number,
  isOver: () => boolean,
): Promise<Written> {
  const written: Written = { acknowledged: { replicated: [], local: [] }, sent: 0 };
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (!isOver()) {
      const name = `${round}-${(written.sent += 1)}`;
      const answer = await client.openIncident(name, node).catch(() => undefined);
      if (answer?.status === 201) {
        const isLocal = answer.headers.get("allclear-durability") === "local";
        written.acknowledged[isLocal ? "local" : "replicated"].push(name);
      }
      await Bun.sleep(PAUSE_MS);
    }
  });
  await Promise.all(clients);
  return written;
}

/** Returns the names of all incidents in the database of a node. */
function namesIn(node: FleetNode): Set<string> {
  using sqlite = new Database(join(node.folder, "allclear.db"), { readonly: true });
  return new Set(
    sqlite
      .prepare<{ name: string }, []>("SELECT name FROM incidents")
      .all()
      .map(({ name }) => name),
  );
}

await describeWithPrograms("a primary that is killed", { go: ["litestream", "versitygw"] }, () => {
  test.each(["replicated", "local"] as const)(
    "under 100 writes a second loses no acknowledged write, or those of a second with --ack %s",
    async (ack) => {
      await using store = await startS3();
      const path = "kill";
      const env = { ALLCLEAR_ACK: ack };
      const args = ["--rejoin", "--eligible"];
      await using first = await startNode({ store, path, args, env });
      const client = await connectTo(first);
      await using second = await startNode({ store, path, env, args: ["--replica", "--eligible"] });
      let [primary, replica] = [first, second];
      const figures = { runs: 0, sent: 0, acknowledged: 0, lost: 0, backMaxMs: 0 };
      for (let round = 1; round <= rounds(1, 25); round++) {
        await eventually(
          "the replica follows",
          async () => (await replica.call("/readyz/api")).status === 200,
        );
        let isOver = false;
        const writing = write(client, primary, round, () => isOver);
        await Bun.sleep(WRITING_MS);
        // A machine that dies takes both processes.
        const litestream = await litestreamPid(primary);
        process.kill(litestream, "SIGKILL");
        await primary.kill();
        isOver = true;
        const { acknowledged, sent } = await writing;
        const killedAt = performance.now();
        const promoted = await replica.run("promote", "--force");
        expect([promoted.code, promoted.stderr]).toEqual([0, expect.any(String)]);
        expect((await client.openIncident(`back-${round}`, replica)).status).toBe(201);
        const names = namesIn(replica);
        figures.runs += 1;
        figures.sent += sent;
        figures.acknowledged += acknowledged[ack].length;
        figures.lost += acknowledged[ack].filter((name) => !names.has(name)).length;
        figures.backMaxMs = Math.max(figures.backMaxMs, Math.round(performance.now() - killedAt));
        expect(acknowledged[ack].length).toBeGreaterThan(10);
        expect(acknowledged[ack === "local" ? "replicated" : "local"]).toEqual([]);
        await primary.restart();
        [primary, replica] = [replica, primary];
      }
      report(`kill -9 under load, --ack ${ack}`, figures);
      // Half a second passes between two uploads; with a slow machine it can be a whole one.
      const lostMax = ack === "replicated" ? 0 : figures.runs * 100;
      expect(figures.lost).toBeLessThanOrEqual(lostMax);
      expect(figures.backMaxMs).toBeLessThan(5_000);
    },
    durationMs(120_000, 30 * 60_000),
  );
});
