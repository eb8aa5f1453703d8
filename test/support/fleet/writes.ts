import { Database } from "bun:sqlite";
import { join } from "node:path";
import type { FleetNode } from "./nodes";

/** Write that a node has acknowledged. */
export interface Write {
  /** Name of the incident. */
  name: string;
  /** True if the answer came before the upload. */
  isLocal: boolean;
  /** Time of the answer, on the monotonic clock. */
  at: number;
}

/** Writes that are under way. */
export interface Writes {
  acknowledged: readonly Write[];
  /** Number of writes that were sent. */
  sent(): number;
  /** Sends no more, and waits for the answers. */
  stop(): Promise<void>;
}

/**
 * Opens incidents at a constant rate, also while answers are missing. `open` resolves to undefined if it sends nothing.
 * Names begin with `prefix`.
 */
export function startWrites(
  open: (name: string) => Promise<Response | undefined>,
  { prefix, perSecond }: { prefix: string; perSecond: number },
): Writes {
  const acknowledged: Write[] = [];
  const waiting = new Set<Promise<void>>();
  let sent = 0;
  const write = async (name: string) => {
    const answer = await open(name).catch(() => undefined);
    if (answer?.status !== 201) return;
    const isLocal = answer.headers.get("allclear-durability") === "local";
    acknowledged.push({ name, isLocal, at: performance.now() });
  };
  const timer = setInterval(() => {
    const one: Promise<void> = write(`${prefix}-${(sent += 1)}`).finally(() => waiting.delete(one));
    waiting.add(one);
  }, 1_000 / perSecond);
  return {
    acknowledged,
    sent: () => sent,
    async stop() {
      clearInterval(timer);
      await Promise.all(waiting);
    },
  };
}

/** Returns the names of all incidents in a database of a node, such as one that was set aside. */
export function incidentNames({ folder }: FleetNode, database = "allclear.db"): Set<string> {
  using sqlite = new Database(join(folder, database), { readonly: true });
  const incidents = sqlite.prepare<{ name: string }, []>("SELECT name FROM incidents");
  return new Set(incidents.all().map(({ name }) => name));
}
