import { unavailable } from "../../base/errors";
import {
  createIdleMonitoring,
  type Heartbeat,
  type Monitoring,
} from "../../features/monitors/monitoring";
import type { Clock } from "../../base/clock";
import { HOUR_MS, SECOND_MS } from "../../base/time";
import type { Valkey } from "./client";
import { script } from "./script";

/** Heartbeats that are kept for the next primary, and the time for which they are. */
const KEPT_MAX = 10_000;
const KEPT_MS = HOUR_MS;
/** Time between two looks of the primary, and heartbeats that it reads at once. */
const LOOK_MS = 5 * SECOND_MS;
const READ_MAX = 500;
const STREAM = "hb";

/** Adds to a stream unless it is full. Arguments: maximum, time to live in ms, value. Answers 1, or 0 without room. */
const KEEP = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('XTRIM', KEYS[1], 'MINID', string.format('%.0f', now - ARGV[2]))
if redis.call('XLEN', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
redis.call('XADD', KEYS[1], '*', 'beat', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`);

/** A heartbeat as it is kept. */
interface WaitingHeartbeat {
  monitor: string;
  /** Arrival, in unix ms. */
  at: number;
  beat: Omit<Heartbeat, "token">;
  token: { kind: string; hash: string } | undefined;
}

/** Monitoring of a replica: it keeps heartbeats in Valkey while there is no primary, and refuses checks. */
export function keepHeartbeats(valkey: Pick<Valkey, "run">, clock: Clock): Monitoring {
  return {
    ...createIdleMonitoring(),
    async heartbeat(monitor, { token, ...beat }) {
      const kept: WaitingHeartbeat = {
        monitor,
        at: clock.now(),
        beat,
        token: token && { kind: token.kind, hash: token.hash.toString("hex") },
      };
      const args = [KEPT_MAX, KEPT_MS, JSON.stringify(kept)].map(String);
      const hasRoom = await valkey.run(KEEP, [STREAM], args).catch(() => 0);
      if (hasRoom !== 1) throw unavailable("The heartbeat cannot be stored at the moment.", 5);
    },
  };
}

/** Applies kept heartbeats, in their order and at the times of their arrival, whenever `isPrimary` and there are some. */
export function applyHeartbeats(
  valkey: Pick<Valkey, "send" | "isAvailable">,
  clock: Clock,
  monitoring: Pick<Monitoring, "heartbeat">,
  isPrimary: () => boolean,
) {
  let applying: Promise<void> | undefined;
  let isStopped = false;
  /** Entries that were applied, and that Valkey has not removed yet. */
  const applied = new Set<string>();

  async function applyAll(): Promise<void> {
    for (;;) {
      const entries = (await valkey.send("XRANGE", [
        STREAM,
        "-",
        "+",
        "COUNT",
        String(READ_MAX),
      ])) as [id: string, fields: [name: string, value: string]][];
      for (const [id, [, value]] of entries) {
        if (isStopped || !isPrimary()) return;
        if (!applied.has(id)) await apply(JSON.parse(value) as WaitingHeartbeat);
        applied.add(id);
        await valkey.send("XDEL", [STREAM, id]);
        applied.delete(id);
      }
      if (entries.length < READ_MAX) return;
    }
  }

  async function apply({ monitor, at, beat, token }: WaitingHeartbeat): Promise<void> {
    const used = token && { token: { ...token, hash: Buffer.from(token.hash, "hex") } };
    await monitoring.heartbeat(monitor, { ...beat, ...used } as Heartbeat, at);
  }

  function look(): void {
    if (applying || isStopped || !isPrimary() || !valkey.isAvailable()) return;
    // What could not be applied is read again.
    applying = applyAll()
      .catch(() => {})
      .finally(() => (applying = undefined));
  }

  const timer = clock.every(LOOK_MS, look);
  look();
  return {
    async stop() {
      isStopped = true;
      timer.cancel();
      await applying;
    },
  };
}
