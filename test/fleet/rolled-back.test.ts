import { expect } from "bun:test";
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readLeader } from "../../src/fleet/leader";
import { describeWithPrograms } from "../support/fleet/describe";
import { eventually } from "../support/fleet/eventually";
import { killMachine } from "../support/fleet/fleet";
import { startLink } from "../support/fleet/link";
import { waitingTest } from "../support/long";
import { type FleetNode, startNode } from "../support/fleet/nodes";
import { connectTo } from "../support/fleet/primary";
import { readRestored } from "../support/fleet/restored";
import { startS3 } from "../support/fleet/s3";
import { temporaryFolder } from "../support/temporary-folder";

const NAMES = "SELECT name FROM incidents ORDER BY id";
const PREFIX = "term-000001-1";

/** Stops a node as its supervisor does. */
async function stop(node: FleetNode): Promise<void> {
  process.kill(node.pid(), "SIGTERM");
  await node.exited();
}

/** Makes one folder equal to another. */
function replaceFolder(folder: string, by: string): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
  cpSync(by, folder, { recursive: true });
}

await describeWithPrograms("a primary", { go: ["litestream", "versitygw"] }, () => {
  waitingTest(
    "whose directory was rolled back does not start until the newest state was restored",
    async () => {
      await using store = await startS3();
      await using node = await startNode({ store, path: "fleet" });
      using snapshot = temporaryFolder();
      const client = await connectTo(node);
      expect((await client.openIncident("one")).status).toBe(201);
      await stop(node);
      cpSync(node.folder, snapshot.path, {
        recursive: true,
        filter: (file) => !file.endsWith("sock"),
      });
      await node.restart();
      expect((await client.openIncident("two")).status).toBe(201);
      await stop(node);
      const before = await readLeader(store.open("fleet"));

      replaceFolder(node.folder, snapshot.path);
      await expect(node.restart()).rejects.toThrow("allclear restore --from-store");
      expect(await readLeader(store.open("fleet"))).toEqual(before);
      expect(await readRestored(store, "fleet", PREFIX, NAMES)).toEqual(["one", "two"]);

      expect(await node.run("restore", "--from-store")).toMatchObject({ code: 0 });
      await node.restart();
      expect((await client.openIncident("three")).status).toBe(201);
      expect(await readRestored(store, "fleet", PREFIX, NAMES)).toEqual(["one", "two", "three"]);

      // The restore of then does not allow later copies.
      await stop(node);
      const note = join(node.folder, "fleet", "restored.json");
      cpSync(note, join(snapshot.path, "fleet", "restored.json"));
      replaceFolder(node.folder, snapshot.path);
      await expect(node.restart()).rejects.toThrow("allclear restore --from-store");
    },
    600_000,
  );

  waitingTest(
    "that has transactions which were not uploaded starts, and uploads them",
    async () => {
      await using store = await startS3();
      await using link = await startLink(store.port);
      await using node = await startNode({ store, path: "fleet", storePort: link.port });
      const client = await connectTo(node);
      expect((await client.openIncident("one")).status).toBe(201);
      link.stall();
      const local = await client.openIncident("two");
      expect(local.headers.get("allclear-durability")).toBe("local");
      await killMachine(node);
      await link.mend();
      await node.restart();
      await eventually("the rest is uploaded", async () => {
        const names = await readRestored(store, "fleet", PREFIX, NAMES);
        return names.join(" ") === "one two";
      });
    },
    600_000,
  );
});
