import { eventually } from "./eventually";
import { applyPage, createKeyAt } from "./keys";
import { type FleetNode, startNode } from "./nodes";
import { litestreamPid } from "./primary";
import { startS3, type S3Server } from "./s3";

/** A primary with replicas, each in a process of its own. */
export interface Fleet extends AsyncDisposable {
  store: S3Server;
  primary: FleetNode;
  replicas: readonly FleetNode[];
  /** Value of an API key that reads the status and writes incidents of the page `acme`. */
  key: string;
}

interface FleetOptions {
  replicas: number;
  /** Arguments of all nodes. */
  args?: readonly string[];
  env?: Record<string, string | undefined>;
}

/** Starts a fleet, and waits until its replicas serve pages and keyed reads. */
export async function startFleet({
  replicas: count,
  args = [],
  env,
}: FleetOptions): Promise<Fleet> {
  await using stack = new AsyncDisposableStack();
  const store = stack.use(await startS3());
  const node = { store, path: "fleet", env };
  const primary = stack.use(await startNode({ ...node, args }));
  await applyPage(primary);
  const { value: key } = await createKeyAt(primary, "read:status", "write:incidents");
  const replicas: FleetNode[] = [];
  for (let index = 0; index < count; index++) {
    replicas.push(stack.use(await startNode({ ...node, args: ["--replica", ...args] })));
  }
  for (const replica of replicas) {
    await eventually("a replica serves keyed reads and pages", async () => {
      const statuses = [await replica.call("/readyz/api"), await replica.call("/status/acme")];
      return statuses.every(({ status }) => status === 200);
    });
  }
  const owned = stack.move();
  return { store, primary, replicas, key, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Sends SIGKILL to a primary and to its Litestream, as if the machine had lost its power. */
export async function killMachine(primary: FleetNode): Promise<void> {
  process.kill(await litestreamPid(primary), "SIGKILL");
  await primary.kill();
}

/** Returns a percentile of some figures, from 0 to 1, rounded to one decimal. */
export function percentile(figures: readonly number[], share: number): number {
  const sorted = figures.toSorted((a, b) => a - b);
  return Number((sorted[Math.floor((sorted.length - 1) * share)] ?? NaN).toFixed(1));
}
