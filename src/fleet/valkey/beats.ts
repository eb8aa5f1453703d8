import type { Clock } from "../../base/clock";
import { unavailable } from "../../base/errors";
import { createSignal, type Signal } from "../../base/signal";
import { HOUR_MS, SECOND_MS } from "../../base/time";
import type { Heartbeat, Monitoring } from "../../features/monitors/monitoring";
import { script, type Valkey } from "./client";

/** Time between two beats of a node. */
const BEAT_MS = 500;
/** Time after its last beat for which a node counts, in ms of the server's clock. */
const GONE_MS = 3 * SECOND_MS;

/** State of a node that the others see. */
export interface NodeBeat {
  /** Id of the node. */
  node: string;
  /** Term while the node is the primary; undefined on replicas. */
  term: number | undefined;
  /** Last transaction that is uploaded, or applied by a replica. */
  txid: number;
}

/** Figures that a node reads with its beat. */
interface BeatReading {
  /** Revision of the changes of keys. */
  revision: number;
  /** Changes by the hashes of key values, if the node has not read this revision before. */
  changes: ReadonlyMap<string, string>;
  /** Last transaction that the primary has uploaded; 0 if unknown. */
  txid: number;
}

/** Signs of life of the nodes of a fleet. */
export interface Beats {
  /** Number of nodes with a beat, at least this one. */
  nodes(): number;
  /**
   * Monotonic time at which the primary of a term was certainly alive, and up to which all changes of its keys were
   * read; undefined before.
   */
  knownAt(term: number): number | undefined;
  /** Nodes that have not read a revision yet. */
  behind(revision: number): string[];
  /** Emitted with each reading. A listener that throws is called again with the same changes. */
  read: Signal<BeatReading>;
  /** Beats at once, such as after a message about changes. */
  beatNow(): Promise<void>;
  /** Removes this node at once. */
  stop(): Promise<void>;
}

interface BeatsDependencies {
  valkey: Pick<Valkey, "run" | "send" | "isAvailable" | "changed">;
  clock: Clock;
  beat: () => NodeBeat;
  /** Revision from which the changes of keys of this primary are complete. */
  leastRevision: () => number;
}

type Answer = [
  nodes: number,
  term: number,
  number: number,
  txid: number,
  revision: number,
  changes: string[] | Record<string, string>,
  seen: string[] | Record<string, string>,
];

/** Begins to beat twice a second. */
export function startBeats({ valkey, clock, beat, leastRevision }: BeatsDependencies): Beats {
  const read = createSignal<BeatReading>();
  let nodes = 1;
  let seen: ReadonlyMap<string, string> = new Map();
  let revision = -1;
  let last: { startedAt: number; term: number; number: number } | undefined;
  let known: { term: number; at: number } | undefined;
  let beating: Promise<void> | undefined;
  let isAgain = false;

  async function beatOnce(): Promise<void> {
    const startedAt = clock.monotonic();
    const { node, term, txid } = beat();
    const args = [node, GONE_MS, revision, term ?? "", txid, leastRevision()].map(String);
    const answer = (await valkey.run(BEAT, BEAT_KEYS, args)) as Answer;
    nodes = Math.max(1, answer[0]);
    seen = toMap(answer[6]);
    const [, ofTerm, number, uploaded, current, changes] = answer;
    read.emit({ revision: current, changes: toMap(changes), txid: uploaded });
    revision = current;
    // The primary has beaten after the last reading began, so it was alive then.
    if (last?.term === ofTerm && number > last.number) known = { term: ofTerm, at: last.startedAt };
    last = { startedAt, term: ofTerm, number };
  }

  async function repeat(): Promise<void> {
    do {
      isAgain = false;
      // The client logs failures and tries again.
      await beatOnce().catch(() => {});
    } while (isAgain && valkey.isAvailable());
    beating = undefined;
  }

  function beatNow(): Promise<void> {
    if (!valkey.isAvailable()) return Promise.resolve();
    // What was noted meanwhile may be missing in the answer that is awaited.
    if (beating) isAgain = true;
    beating ??= repeat();
    return beating;
  }

  const timer = clock.every(BEAT_MS, () => {
    if (!beating) void beatNow();
  });
  const forget = valkey.changed.on((isAvailable) => {
    if (isAvailable) void beatNow();
  });
  return {
    nodes: () => nodes,
    knownAt: (term) => (known?.term === term ? known.at : undefined),
    behind: (wanted) => Array.from(seen).flatMap(([node, at]) => (Number(at) < wanted ? node : [])),
    read,
    beatNow,
    async stop() {
      timer.cancel();
      forget();
      const { node } = beat();
      const remove = (command: string, key: string) => valkey.send(command, [key, node]);
      await Promise.allSettled([remove("ZREM", "nodes"), remove("HDEL", "seen")]);
    },
  };
}

/** Reads a table: a map where the server speaks RESP3, else names and values in turn. */
function toMap(answer: string[] | Record<string, string>): ReadonlyMap<string, string> {
  if (!Array.isArray(answer)) return new Map(Object.entries(answer));
  const map = new Map<string, string>();
  for (let at = 0; at < answer.length; at += 2) map.set(answer[at] ?? "", answer[at + 1] ?? "");
  return map;
}

/**
 * Notes the beat of a node. That of a primary counts if no later term has one, and if the changes of keys are complete:
 * a server that was started again has lost them. `seen` has the revision of these changes that each node has read.
 *
 * Keys: `nodes`, `seen`, `beat`, `rev`, `revoked`. Arguments: node, time in ms after which nodes are gone, last revision
 * that the node has read, term or empty, transaction, least complete revision. Answers: number of nodes; term, number
 * and transaction of the primary's beat; revision; changes of keys if the node has not read them; revisions by node.
 */
const BEAT = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])) do
  redis.call('ZREM', KEYS[1], gone)
  redis.call('HDEL', KEYS[2], gone)
end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
local rev = tonumber(redis.call('GET', KEYS[4]) or '0')
local term = tonumber(redis.call('HGET', KEYS[3], 'term') or '0')
if ARGV[4] ~= '' and tonumber(ARGV[4]) >= term and rev >= tonumber(ARGV[6]) then
  term = tonumber(ARGV[4])
  redis.call('HSET', KEYS[3], 'term', term, 'txid', ARGV[5])
  redis.call('HINCRBY', KEYS[3], 'number', 1)
end
local number = tonumber(redis.call('HGET', KEYS[3], 'number') or '0')
local txid = tonumber(redis.call('HGET', KEYS[3], 'txid') or '0')
local changes = {}
if rev ~= tonumber(ARGV[3]) then changes = redis.call('HGETALL', KEYS[5]) end
local nodes = redis.call('ZCARD', KEYS[1])
return {nodes, term, number, txid, rev, changes, redis.call('HGETALL', KEYS[2])}
`);

/** Names of the keys of `BEAT`. */
const BEAT_KEYS = ["nodes", "seen", "beat", "rev", "revoked"];

/**
 * Adds changes of keys, kept for an hour after the last one, and tells the nodes.
 *
 * Keys: `revoked`, `rev`. Arguments: seconds, least revision before, name of the channel, then names and values.
 * Answers the revision.
 */
export const ADD_CHANGES = script(`
for i = 4, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('EXPIRE', KEYS[1], ARGV[1])
local rev = math.max(tonumber(redis.call('GET', KEYS[2]) or '0'), tonumber(ARGV[2])) + 1
redis.call('SET', KEYS[2], rev)
redis.call('PUBLISH', ARGV[3], rev)
return rev
`);

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

/** Part of the monitoring of a replica, which keeps heartbeats in Valkey while there is no primary. */
export function keepHeartbeats(
  valkey: Pick<Valkey, "run">,
  clock: Clock,
): Pick<Monitoring, "heartbeat"> {
  return {
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
