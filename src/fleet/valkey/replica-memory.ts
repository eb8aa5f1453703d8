import type { Config } from "../../base/config/options";
import type { Monitoring } from "../../features/monitors/monitoring";
import type { Clock } from "../../base/clock";
import type { Log } from "../../base/log";
import { SECOND_MS } from "../../base/time";
import { openSharedMemory, type SharedMemory } from "./memory";
import { KEYS_CHANNEL } from "./key-changes";
import { keepHeartbeats } from "./kept-heartbeats";
import { listenToMessages } from "./messages";
import { createNewerKeys, type NewerKeys } from "./newer-keys";
import { LOG_CHANNEL } from "./primary-memory";

/**
 * Time for which a beat of the primary shows that it would send hints. Keys are known for half a second longer, in which
 * the store is listed.
 */
const BEATING_MS = 1.5 * SECOND_MS;

export interface ReplicaMemory extends SharedMemory {
  newerKeys: NewerKeys;
  /** Keeps heartbeats while there is no primary. */
  monitoring: Monitoring;
  /** True while messages arrive. */
  isListening(): boolean;
  /** True while hints of the primary of a term would arrive. */
  hasHints(term: number | undefined): boolean;
}

interface ReplicaMemoryDependencies {
  config: Config;
  clock: Clock;
  log: Log;
  node: string;
  /** Last transaction that is applied. */
  txid: () => number;
  /** Called when the primary has uploaded a transaction. */
  hint(txid: number): void;
}

/** Connects a replica to the Valkey of its fleet: it hears of changes of keys and of uploads. */
export async function openReplicaMemory(deps: ReplicaMemoryDependencies): Promise<ReplicaMemory> {
  const { clock, node } = deps;
  const newerKeys = createNewerKeys();
  const beat = () => ({ node, term: undefined, txid: deps.txid() });
  const memory = await openSharedMemory({ ...deps, beat });
  const { valkey, beats } = memory;
  const forget = beats.read.on(({ changes, txid }) => {
    newerKeys.add(changes);
    // A message may have been lost.
    deps.hint(txid);
  });
  const messages = listenToMessages(valkey, clock, {
    [KEYS_CHANNEL]: () => void beats.beatNow(),
    [LOG_CHANNEL]: (txid) => deps.hint(Number(txid)),
  });
  void beats.beatNow();
  return {
    ...memory,
    newerKeys,
    monitoring: keepHeartbeats(valkey, clock),
    isListening: messages.isListening,
    hasHints(term) {
      const at = term === undefined ? undefined : beats.knownAt(term);
      return messages.isListening() && at !== undefined && clock.monotonic() - at < BEATING_MS;
    },
    async stop() {
      messages.stop();
      forget();
      await memory.stop();
    },
  };
}
