import type { Clock, Timer } from "../../kernel/clock";
import type { Valkey } from "./client";
import { script } from "./script";

/** Time between two beats of a node. */
const BEAT_MS = 500;
/** Time after its last beat for which a node counts, in ms of the server's clock. */
const GONE_MS = 3_000;

/** State of a node that the others see. */
export interface NodeBeat {
  /** Id of the node. */
  node: string;
  /** Term while the node is the primary; undefined on replicas. */
  term: number | undefined;
  /** Last transaction that is uploaded, or applied by a replica. */
  txid: number;
}

/** Signs of life of the nodes of a fleet. */
export interface Beats {
  /** Number of nodes with a beat, at least this one. */
  nodes(): number;
  /** Removes this node at once. */
  stop(): Promise<void>;
}

/**
 * Notes a beat and counts the nodes. A primary of an earlier term has no beat as a primary.
 *
 * Arguments: node, term or empty, transaction, time after which nodes are gone. Answers: number of nodes.
 */
const BEAT = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[4])
return {redis.call('ZCARD', KEYS[1])}
`);

interface BeatsDependencies {
  valkey: Pick<Valkey, "run" | "send" | "isAvailable" | "changed">;
  clock: Clock;
  beat: () => NodeBeat;
}

export function startBeats({ valkey, clock, beat }: BeatsDependencies): Beats {
  let nodes = 1;
  let isBeating = false;
  const timer: Timer = clock.every(BEAT_MS, () => void beatNow());
  valkey.changed.on((isAvailable) => {
    if (isAvailable) void beatNow();
  });

  async function beatNow(): Promise<void> {
    if (isBeating || !valkey.isAvailable()) return;
    isBeating = true;
    try {
      const { node, term, txid } = beat();
      const args = [node, term ?? "", txid, GONE_MS].map(String);
      const [count] = (await valkey.run(BEAT, ["nodes"], args)) as [number];
      nodes = Math.max(1, count);
    } catch {
      // The client logs the failure and tries again.
    } finally {
      isBeating = false;
    }
  }

  void beatNow();
  return {
    nodes: () => nodes,
    async stop() {
      timer.cancel();
      await valkey.send("ZREM", ["nodes", beat().node]).catch(() => {});
    },
  };
}
