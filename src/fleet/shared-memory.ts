import type { Config } from "../config";
import type { Clock } from "../kernel/clock";
import type { Log } from "../kernel/log";
import type { NodeBeat, SharedMemory } from "./valkey";

/** Connects a node to the Valkey of its fleet. Undefined without --valkey, of which nothing is loaded then. */
export async function openMemory(
  deps: { config: Config; clock: Clock; log: Log },
  beat: () => NodeBeat,
): Promise<SharedMemory | undefined> {
  if (!deps.config.valkey) return undefined;
  const { openSharedMemory } = await import("./valkey");
  return openSharedMemory({ ...deps, beat });
}
