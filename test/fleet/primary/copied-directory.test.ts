import { expect, test } from "bun:test";
import { writeLeader } from "../../../src/fleet/leader";
import { requireOnlyProcess } from "../../../src/fleet/primary/primaryship";
import { systemClock } from "../../../src/base/clock";
import { leaderRecord } from "../../support/fleet/leader";
import { createMemoryStore } from "../../support/fleet/memory-store";
import { FLEET_SECRET } from "../../support/fleet/nodes";

/** Starts a node whose address in the record belongs to a program with this answer. */
async function startBeside(answer: unknown) {
  using other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => Response.json(answer) });
  const store = createMemoryStore();
  const address = `http://127.0.0.1:${other.port}`;
  await writeLeader(store, undefined, leaderRecord({ address }));
  const node = { id: "node_a", term: 1 };
  await requireOnlyProcess(systemClock(), FLEET_SECRET, { store, node, run: "run_new" });
}

test("a primary starts though another program has its address in the record", async () => {
  for (const answer of [{}, null, [], "up", { nodes: null }, { nodes: {} }]) {
    await startBeside(answer);
  }
});

test("a primary does not start beside one with its identity", async () => {
  const nodes = [{ isSelf: true, name: "host/node_a" }];
  await expect(startBeside({ run: "run_a", nodes })).rejects.toThrow("was copied");
});
