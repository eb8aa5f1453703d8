import type { Config } from "../base/config/options";
import type { Ctx } from "../context";
import type { Alarms } from "../features/alarms/alarms";
import { findVersion } from "../events/changes";
import type { Clock } from "../base/clock";
import type { Log } from "../base/log";
import { SECOND_MS } from "../base/time";
import type { Following } from "./follow/follow";
import type { LeaderWatch } from "./leader";
import type { Primaryship } from "./primary/primaryship";
import type { PrimaryMemory, ReplicaMemory } from "./valkey/nodes";

/** Time within which a replica must have heard of revoked keys, in ms. */
const KEYS_KNOWN_MS = 2 * SECOND_MS;

/** Connects a primary to the Valkey of its fleet. Undefined without --valkey, of which nothing is loaded then. */
export async function openForPrimary(
  { ctx, alarms, node }: { ctx: Ctx; alarms: Alarms; node: string },
  { isHeld, record, figures, upload }: Primaryship,
): Promise<PrimaryMemory | undefined> {
  if (!ctx.config.valkey) return undefined;
  const { openPrimaryMemory } = await import("./valkey/nodes");
  const term = () => (isHeld() ? record()?.term : undefined);
  return openPrimaryMemory({ ctx, alarms, node, term, txid: () => figures().txid, upload });
}

/** Connects a replica to the Valkey of its fleet. Undefined without --valkey. */
export async function openForReplica(
  deps: { config: Config; clock: Clock; log: Log; node: string },
  following: Following,
): Promise<ReplicaMemory | undefined> {
  if (!deps.config.valkey) return undefined;
  const { openReplicaMemory } = await import("./valkey/nodes");
  const { hint } = following;
  return openReplicaMemory({ ...deps, txid: following.txid, hint });
}

/** Lets a replica refuse keys whose change it has heard of, until it has applied the transactions. */
export function useNewerKeys(ctx: Ctx, memory: ReplicaMemory | undefined): void {
  if (!memory) return;
  const { states, applied } = memory.newerKeys;
  ctx.newerKeys = states;
  ctx.signals.keysChanged.on(() => applied(findVersion(ctx.db, { scope: "keys" })?.version ?? 0));
}

/** Returns true while a replica would know of a revoked key: by a listing of the store, or by beats of the primary. */
export function knowsKeys(
  clock: Clock,
  following: Following,
  leader: LeaderWatch,
  memory: ReplicaMemory | undefined,
): boolean {
  const { confirmedAt = Number.NEGATIVE_INFINITY } = following.confirmed();
  const record = leader.record();
  // Neither listings nor beats mean anything about the copy of an earlier log, which no node writes any more.
  if (record?.prefix !== following.prefix()) return false;
  const heardAt = record && memory?.beats.knownAt(record.term);
  const knownAt = Math.max(confirmedAt, heardAt ?? Number.NEGATIVE_INFINITY);
  return clock.monotonic() - knownAt <= KEYS_KNOWN_MS;
}
