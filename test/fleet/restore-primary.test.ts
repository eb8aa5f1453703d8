import { expect, test } from "bun:test";
import { join } from "node:path";
import { toIso } from "../../src/base/time";
import { describeWithPrograms } from "../support/fleet/describe";
import { eventually } from "../support/fleet/eventually";
import { type FleetNode, startNode } from "../support/fleet/nodes";
import { startS3 } from "../support/fleet/s3";
import { temporaryFolder } from "../support/temporary-folder";

/** Creates a key with a command, and returns its value. */
async function createKey(node: FleetNode, name: string): Promise<string> {
  const made = await node.run("key", "create", "--name", name, "--scope", "read:status");
  expect([made.code, made.stderr]).toEqual([0, expect.any(String)]);
  return /allclear_\w+/.exec(made.stdout)?.[0] ?? "";
}

await describeWithPrograms("a primary", { go: ["litestream", "versitygw"] }, () => {
  test("whose database was restored goes on with a log that can be restored and followed", async () => {
    await using store = await startS3();
    using folder = temporaryFolder();
    await using primary = await startNode({ store, path: "fleet" });
    await using replica = await startNode({ store, path: "fleet", args: ["--replica"] });
    const statusWith = async (key: string) => (await replica.call("/api/v1/key", { key })).status;
    /** Names of the keys in the newest state of the store, newest first. */
    async function stored(): Promise<string> {
      const data = ["--data-dir", join(folder.path, crypto.randomUUID())];
      const restored = await primary.run("restore", "--from-store", ...data);
      if (restored.code !== 0) throw new Error(restored.stderr);
      const { stdout } = await primary.run("key", "list", "--json", ...data);
      return (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name).join(" ");
    }
    await createKey(primary, "one");
    await eventually("the first key is in the store", async () => (await stored()) === "one");
    const at = Date.now();
    const two = await createKey(primary, "two");
    await eventually("the second key is, too", async () => (await stored()) === "two one");
    await eventually("the replica knows it", async () => (await statusWith(two)) === 200);

    process.kill(primary.pid(), "SIGTERM");
    await primary.exited();
    const restored = await primary.run("restore", "--from-store", "--at", toIso(at));
    expect([restored.code, restored.stderr]).toEqual([0, expect.stringContaining("Restored")]);
    await primary.restart();
    const three = await createKey(primary, "three");
    await eventually(
      "the store has the restored history",
      async () => (await stored()) === "three one",
    );
    await eventually("the replica has it", async () => (await statusWith(three)) === 200);
    expect(await statusWith(two)).toBe(401);
  }, 600_000);
});
