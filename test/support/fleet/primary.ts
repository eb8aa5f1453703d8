import { eventually } from "./eventually";
import type { FleetNode } from "./nodes";

/** A primary as a client with a key uses it. */
export interface PrimaryClient {
  /** Value of the key. */
  key: string;
  /** Opens an incident, if not otherwise said at the primary, and returns the answer. */
  openIncident(name: string, at?: FleetNode): Promise<Response>;
}

/**
 * Creates a key that may open incidents, by the command `key create` in the data directory of a node. Waits until the
 * node has created the sample page, which it does after it is ready.
 */
export async function connectTo(node: FleetNode): Promise<PrimaryClient> {
  await eventually("the sample page exists", async () => (await node.call("/status/sample")).ok);
  const scopes = ["--scope", "write:incidents", "--scope", "read:status", "--rate-limit", "100000"];
  const { stdout, stderr, code } = await node.run("key", "create", "--name", "test", ...scopes);
  if (code !== 0) throw new Error(stderr);
  const key = stdout.trim();
  return {
    key,
    openIncident: (name, at = node) =>
      at.call("/api/v1/incidents", {
        method: "POST",
        key,
        body: { page: "sample", name, status: "investigating", body: "We look into it." },
      }),
  };
}

/** Returns the id of the Litestream that a node has started, once it listens. A node is ready before. */
export async function litestreamPid(node: FleetNode): Promise<number> {
  let pid = 0;
  await eventually("Litestream listens", async () => {
    const answer = await fetch("http://litestream/info", {
      unix: `${node.folder}/fleet/litestream.sock`,
    });
    pid = ((await answer.json()) as { pid: number }).pid;
    return true;
  });
  return pid;
}
