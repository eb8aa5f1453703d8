import type { Clock } from "../../base/clock";
import { createSignal, type Signal } from "../../base/signal";
import { SECOND_MS } from "../../base/time";
import { BEAT, BEAT_KEYS } from "./beat-script";
import type { Valkey } from "./client";

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
export interface BeatReading {
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
