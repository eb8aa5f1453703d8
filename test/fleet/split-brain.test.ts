import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describeLongRun } from "../support/fleet/describe";
import { eventually } from "../support/fleet/eventually";
import { type Link, startLink } from "../support/fleet/link";
import { report, rounds, durationMs } from "../support/fleet/long";
import { type FleetNode, startNode } from "../support/fleet/nodes";
import { connectTo } from "../support/fleet/primary";
import { startS3 } from "../support/fleet/s3";

const ARGS = ["--replica", "--eligible", "--failover", "automatic"];

/** Pause of the client after each write, in ms. */
const PAUSE_MS = 50;

/** Faults that leave the primary running. */
const FAULTS = {
  /** Its requests to the store are not answered. */
  "is cut off from the store": {
    begin: (_node: FleetNode, link: Link) => link.stall(),
    end: (_node: FleetNode, link: Link) => link.mend(),
  },
  "is paused": {
    begin: (node: FleetNode) => node.freeze(),
    end: (node: FleetNode) => node.thaw(),
  },
};

interface Write {
  name: string;
  /** True if the answer came before the upload. */
  isLocal: boolean;
  /** Time of the answer, on the monotonic clock. */
  at: number;
}

function namesIn(node: FleetNode): Set<string> {
  using sqlite = new Database(join(node.folder, "allclear.db"), { readonly: true });
  return new Set(
    sqlite
      .prepare<{ name: string }, []>("SELECT name FROM incidents")
      .all()
      .map(({ name }) => name),
  );
}

await describeLongRun("a primary", { go: ["litestream", "versitygw"] }, () => {
  test.each(Object.keys(FAULTS) as (keyof typeof FAULTS)[])(
    "that %s loses no replicated write, and acknowledges nothing once another node writes",
    async (fault) => {
      const figures = { runs: 0, replicated: 0, local: 0, lost: 0, lostLocal: 0, backMaxMs: 0 };
      for (let round = 1; round <= rounds(1, 10); round++) {
        await using store = await startS3();
        const path = "split";
        await using link = await startLink(store.port);
        await using old = await startNode({ store, path, storePort: link.port, args: ARGS });
        await eventually(
          "the first node is the primary",
          async () => (await old.call("/readyz/primary")).status === 200,
        );
        const client = await connectTo(old);
        await using next = await startNode({ store, path, args: ARGS });
        await eventually(
          "the other follows",
          async () => (await next.call("/readyz/api")).status === 200,
        );

        const writes: Record<"old" | "next", Write[]> = { old: [], next: [] };
        let isOver = false;
        const writing = (["old", "next"] as const).map(async (at) => {
          const node = at === "old" ? old : next;
          for (let count = 1; !isOver; count++) {
            // A replica forwards to the primary of its record, so only its own answers count.
            const isPrimary = at === "old" || (await statusOf(node, "/readyz/primary")) === 200;
            const name = `${at}-${count}`;
            const answer = isPrimary
              ? await client.openIncident(name, node).catch(() => undefined)
              : undefined;
            if (answer?.status === 201) {
              const isLocal = answer.headers.get("allclear-durability") === "local";
              writes[at].push({ name, isLocal, at: performance.now() });
            }
            await Bun.sleep(PAUSE_MS);
          }
        });
        await eventually("writes are acknowledged", async () => writes.old.length > 20);
        const faultAt = performance.now();
        FAULTS[fault].begin(old, link);
        await untilWritten(writes.next);
        figures.backMaxMs = Math.max(figures.backMaxMs, Math.round(performance.now() - faultAt));
        const firstAt = writes.next[0]?.at ?? 0;
        await FAULTS[fault].end(old, link);
        await eventually("the old primary follows the new one", async () => {
          const ready = await old.call("/readyz/api");
          const { role, term } = (await ready.json()) as { role: string; term: number };
          return role === "replica" && term === 2;
        });
        isOver = true;
        await Promise.all(writing);

        const names = namesIn(next);
        const late = writes.old.filter(({ at, name }) => at > firstAt && !names.has(name));
        expect(late).toEqual([]);
        const replicated = writes.old.filter(({ isLocal }) => !isLocal);
        const local = writes.old.filter(({ isLocal }) => isLocal);
        figures.runs += 1;
        figures.replicated += replicated.length + writes.next.length;
        figures.local += local.length;
        figures.lost += [...replicated, ...writes.next].filter(
          ({ name }) => !names.has(name),
        ).length;
        figures.lostLocal += local.filter(({ name }) => !names.has(name)).length;
        expect(readdirSync(old.folder)).toContain("allclear.db.term-1");
      }
      report(`a primary that ${fault}`, figures);
      expect(figures.lost).toBe(0);
      expect(figures.backMaxMs).toBeLessThan(25_000);
    },
    durationMs(120_000, 30 * 60_000),
  );
});

async function statusOf(node: FleetNode, path: string): Promise<number> {
  return (await node.call(path).catch(() => undefined))?.status ?? 0;
}

async function untilWritten(writes: readonly Write[]): Promise<void> {
  while (writes.length === 0) await Bun.sleep(PAUSE_MS);
}
