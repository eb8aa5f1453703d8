import { expect, test } from "bun:test";
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readLeader, writeLeader } from "../../src/fleet/leader";
import { describeWithPrograms } from "../support/fleet/describe";
import { type FleetNode, startNode } from "../support/fleet/nodes";
import { connectTo } from "../support/fleet/primary";
import { type S3Server, startS3 } from "../support/fleet/s3";
import { temporaryFolder } from "../support/temporary-folder";

const COPIED = "the data directory was copied";

/** Copies the data directory of a node, without its sockets. */
function copyOf(node: FleetNode): ReturnType<typeof temporaryFolder> {
  const copy = temporaryFolder();
  const filter = (file: string) => !file.endsWith("sock");
  cpSync(node.folder, copy.path, { recursive: true, filter });
  return copy;
}

/** Puts a copy in the place of the data directory of a node that does not run. */
function placeCopy(node: FleetNode, copy: string): void {
  for (const name of readdirSync(node.folder)) {
    rmSync(join(node.folder, name), { recursive: true, force: true });
  }
  cpSync(copy, node.folder, { recursive: true });
}

await describeWithPrograms("a copied data directory", { go: ["litestream", "versitygw"] }, () => {
  test("of the primary does not start beside it, and the primary goes on", async () => {
    await using store = await startS3();
    await using primary = await startNode({ store, path: "fleet" });
    const client = await connectTo(primary);
    expect((await client.openIncident("one")).status).toBe(201);
    // A directory of another fleet, which becomes the copy.
    await using other = await startNode({ store, path: "other" });
    await other.kill();
    using copy = copyOf(primary);
    placeCopy(other, copy.path);
    const started = await other.run("serve", "--fleet-store", store.urlOf("fleet"));
    expect([started.code, started.stderr]).toEqual([1, expect.stringContaining(COPIED)]);
    const record = (await readLeader(store.open("fleet")))?.record;
    expect(record?.address).toBe(primary.privateUrl);
    expect((await client.openIncident("two")).status).toBe(201);

    // The primary itself is started again at once.
    await primary.kill();
    await primary.restart();
    expect((await client.openIncident("three")).status).toBe(201);
  }, 600_000);

  test("that has taken the record makes the primary end, instead of taking it back", async () => {
    await using store = await startS3();
    await using primary = await startNode({ store, path: "fleet" });
    const client = await connectTo(primary);
    await takeAsCopy(store);
    expect((await client.openIncident("one")).status).toBe(503);
    expect(await primary.exited()).toBe(1);
    expect(primary.output()).toContain(COPIED);
    expect((await readLeader(store.open("fleet")))?.record.run).toBe("copy");
  }, 600_000);
});

/** Writes the record as another process of its node does at its start. */
async function takeAsCopy(server: S3Server): Promise<void> {
  const store = server.open("fleet");
  const current = await readLeader(store);
  if (!current) throw new Error("there is no primary");
  const { record } = current;
  const next = { ...record, run: "copy", renewal: record.renewal + 1 };
  if ((await writeLeader(store, current, next)) === "changed") await takeAsCopy(server);
}
