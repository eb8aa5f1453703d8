import { openConnection, requestText } from "../../../bench/support/connection";
import { eventually } from "./eventually";
import type { FleetNode } from "./nodes";

/** Requests that are sent at the same time. */
const CLIENTS = 8;
/** Pause of a client after a 503, in ms. */
const PAUSE_MS = 20;
const PATH = "/api/v1/key";

/** Answers to requests with a key. */
export interface KeyLoad {
  admitted: number;
  refused: number;
  /** Answers 503. */
  unavailable: number;
  /** Time from the first request to the last answer. */
  ms: number;
}

/** Sends requests with a key to nodes in a pattern of their indices until each has refused one. */
export async function drainKey(
  nodes: readonly FleetNode[],
  key: string,
  pattern: readonly number[],
): Promise<KeyLoad> {
  const load = { admitted: 0, refused: 0, unavailable: 0, ms: 0 };
  const refusing = new Set<number>();
  const startedAt = performance.now();
  let turn = 0;
  const clients = Array.from({ length: CLIENTS }, async () => {
    const targets = await Promise.all(nodes.map(({ url }) => connectTo(url, key)));
    while (refusing.size < nodes.length) {
      const index = pattern[turn++ % pattern.length] ?? 0;
      const status = await targets[index]?.ask();
      if (status === 200) load.admitted += 1;
      else if (status === 429) {
        load.refused += 1;
        refusing.add(index);
      } else if (status === 503) {
        load.unavailable += 1;
        await Bun.sleep(PAUSE_MS);
      } else throw new Error(`a node answered ${status}`);
    }
    for (const { close } of targets) close();
  });
  await Promise.all(clients);
  return { ...load, ms: performance.now() - startedAt };
}

/** Sends requests with a key to a node, one after another. Returns their times in ms and the number of admitted ones. */
export async function timeKey(
  { url }: FleetNode,
  key: string,
  count: number,
): Promise<{ times: number[]; admitted: number }> {
  const { ask, close } = await connectTo(url, key);
  const times: number[] = [];
  let admitted = 0;
  for (let request = 0; request < count; request++) {
    const from = performance.now();
    if ((await ask()) === 200) admitted += 1;
    times.push(performance.now() - from);
  }
  close();
  return { times, admitted };
}

/** Returns the decisions that each node has taken alone. Reading them with a key is one while Valkey does not answer. */
export function localDecisions(nodes: readonly FleetNode[], key: string): Promise<number[]> {
  return Promise.all(
    nodes.map(async (node) => {
      let figure: string | undefined;
      await eventually("a node shows its metrics", async () => {
        const text = await (await node.call("/metrics", { key })).text();
        figure = /^allclear_limits_local_total (\d+)$/m.exec(text)?.[1];
        return figure !== undefined;
      });
      return Number(figure);
    }),
  );
}

/** Waits until no node decides alone. */
export async function untilShared(nodes: readonly FleetNode[], key: string): Promise<void> {
  await eventually("all nodes share limits", async () => {
    const [before, after] = [await localDecisions(nodes, key), await localDecisions(nodes, key)];
    return Bun.deepEquals(before, after);
  });
}

async function connectTo(url: string, key: string) {
  const connection = await openConnection(url);
  const request = requestText(url, PATH, { headers: { Authorization: `Bearer ${key}` } });
  return {
    ask: async () => (await connection.send(request)).status,
    close: () => connection.close(),
  };
}
