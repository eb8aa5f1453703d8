import type { Readability } from "../../db/followed-database";

/** Longest time in which a transaction in the folder is not applied, or an applied one not noted. */
const AHEAD_MS = 10_000;
/** Longest time in which the database is locked, missing or unreadable. */
const UNREADABLE_MS = 3_000;
/** Time after a repair in which another one shows that the first did not help. */
const REPEATED_MS = 30_000;
/** Time that a repair gets before the next one. */
const EFFECT_MS = 3_000;
/** Life of a process that did not fail at its start. */
const STARTED_MS = 2_000;
/** Least time between two starts, and between two restores. */
const RESTART_PAUSE_MS = 1_000;
const RESTORE_PAUSE_MS = 10_000;

/** State of a follower, at monotonic times. */
export interface FollowerHealth {
  /** Life of the process in ms, if it has ended. */
  endedAfterMs: number | undefined;
  /** Time since which the folder has a transaction that was not applied, without any progress. */
  aheadSince: number | undefined;
  readability: Readability;
  /** End of the last repair. */
  last: { kind: Repair; at: number } | undefined;
}

/** Repair of a follower: a new process, or a new database from the folder. */
export type Repair = "restart" | "restore";

/**
 * Returns the repair that a follower needs now. A new process applies everything after the noted transaction again,
 * which also completes a half-written database. If that does not help, or the database is damaged, it is restored.
 */
export function neededRepair(health: FollowerHealth, now: number): Repair | undefined {
  const { last } = health;
  const kind = repairOf(health, now);
  if (kind === undefined || last === undefined) return kind;
  const isSame = kind === "restore" && last.kind === "restore";
  return now - last.at < (isSame ? RESTORE_PAUSE_MS : RESTART_PAUSE_MS) ? undefined : kind;
}

function repairOf(
  { endedAfterMs, aheadSince, readability, last }: FollowerHealth,
  now: number,
): Repair | undefined {
  if (readability.isDamaged) return "restore";
  const isRepeated = last !== undefined && now - last.at < REPEATED_MS;
  const next = isRepeated && last.kind === "restart" ? "restore" : "restart";
  if (endedAfterMs !== undefined) return endedAfterMs < STARTED_MS ? next : "restart";
  const hasLasted = (since: number | undefined, limitMs: number) =>
    since !== undefined &&
    now - Math.max(since, last?.at ?? since) >= (isRepeated ? EFFECT_MS : limitMs);
  const unreadableMs = readability.reason === "unsettled" ? AHEAD_MS : UNREADABLE_MS;
  if (!hasLasted(aheadSince, AHEAD_MS) && !hasLasted(readability.since, unreadableMs)) {
    return undefined;
  }
  return readability.reason === "missing" ? "restore" : next;
}
