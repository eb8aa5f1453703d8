import { expect, test } from "bun:test";
import { describeWithPrograms } from "../../support/fleet/describe";
import { eventually } from "../../support/fleet/eventually";
import { type FleetNode, startNode } from "../../support/fleet/nodes";
import { startS3 } from "../../support/fleet/s3";

interface Status {
  primary: { term: number };
  problem: string | null;
  nodes: {
    name: string;
    role: string;
    eligible: boolean;
    lag_seconds: number | null;
    txid: string | null;
  }[];
  alarms: { kind: string }[];
}

/** Returns what `allclear fleet status --json` prints at a node. */
async function statusAt(node: FleetNode): Promise<Status & { code: number }> {
  const { code, stdout, stderr } = await node.run("fleet", "status", "--json");
  if (stdout === "") throw new Error(stderr);
  return { ...(JSON.parse(stdout) as Status), code };
}

await describeWithPrograms("the state of a fleet", { go: ["litestream", "versitygw"] }, () => {
  test("is that of the primary and its replicas, at every node, and names a primary that is gone", async () => {
    await using store = await startS3();
    await using primary = await startNode({ store, path: "fleet" });
    await using replica = await startNode({
      store,
      path: "fleet",
      args: ["--replica", "--eligible"],
    });
    let status: Status & { code: number } = await statusAt(primary);
    await eventually("the replica has reported that it follows", async () => {
      status = await statusAt(primary);
      return (status.nodes[1]?.lag_seconds ?? null) !== null;
    });
    expect(status).toMatchObject({
      code: 0,
      primary: { term: 1 },
      problem: null,
      nodes: [
        { role: "primary", lag_seconds: null },
        { role: "replica", eligible: true, txid: expect.stringMatching(/^[0-9a-f]{16}$/) },
      ],
      alarms: [],
    });
    expect((await statusAt(replica)).nodes.map(({ name }) => name)).toEqual(
      status.nodes.map(({ name }) => name),
    );

    await primary[Symbol.asyncDispose]();
    const gone = await statusAt(replica);
    expect([gone.code, gone.nodes, gone.problem]).toEqual([
      1,
      [],
      expect.stringContaining("cannot be asked"),
    ]);
  }, 600_000);
});
