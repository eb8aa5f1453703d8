import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SCHEMA_VERSION } from "../../../src/db/migrations";
import { environmentOf, replicaSettings } from "../../../src/fleet/litestream";
import { systemClock } from "../../../src/kernel/clock";
import { VERSION } from "../../../src/version";
import { litestreamPath } from "./litestream";
import { type FleetNode, startNode } from "./nodes";
import type { S3Server } from "./s3";

export interface PrimaryNode extends FleetNode {
  /** Stops the renewal of the leader record. */
  silence(): void;
  /** Ends the upload as a primary that is killed does. */
  stopUpload(): Promise<void>;
}

/** Starts a server with its upload and its leader record. */
export async function startPrimaryNode(store: S3Server, path: string): Promise<PrimaryNode> {
  const node = await startNode({ store, path });
  const prefix = "term-000001-1";
  const database = join(node.folder, "allclear.db");
  const config = join(node.folder, "litestream.yml");
  const replica = { ...replicaSettings(store.addressOf(path), prefix), "sync-interval": "100ms" };
  const dbs = [{ path: database, "monitor-interval": "100ms", replica }];
  writeFileSync(config, JSON.stringify({ logging: { level: "warn" }, dbs }));
  const litestream = Bun.spawn([await litestreamPath(), "replicate", "-config", config], {
    env: environmentOf(store.credentials),
    stdout: "inherit",
    stderr: "inherit",
  });
  const objects = store.open(path, { clock: systemClock() });
  let renewal = 0;
  const renew = async () => {
    const record = {
      term: 1,
      node: "node_primary",
      run: "1",
      address: node.privateUrl,
      prefix,
      previous: null,
      renewal: (renewal += 1),
      version: VERSION,
      schema: SCHEMA_VERSION,
      released: false,
    };
    await objects.put("leader.json", new TextEncoder().encode(JSON.stringify(record)), {});
  };
  await renew();
  const renewals = setInterval(() => void renew().catch(() => {}), 1_000);
  const stopUpload = async () => {
    litestream.kill("SIGKILL");
    await litestream.exited;
  };
  return Object.assign(node, {
    silence: () => clearInterval(renewals),
    stopUpload,
    async [Symbol.asyncDispose]() {
      clearInterval(renewals);
      await stopUpload();
      await node.kill();
      rmSync(node.folder, { recursive: true, force: true });
    },
  });
}
