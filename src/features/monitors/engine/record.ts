import type { Tx } from "../../../db";
import type { CheckOutcome } from "../../../kernel/monitor-state";
import { type CheckRow, insertCheck } from "../checks-store";
import { decide, type Standing } from "../rules";
import { type JudgedRow, listJudged } from "../standing-store";
import { findMonitor, saveCertificate, saveHeartbeat, saveStanding } from "../store";
import { enter, type Services, writeState } from "./consequences";
import { standingOf, type Watched } from "./watched";

/**
 * Something to be written of a monitor: what a check found or a job said; that this server was away, so that
 * nothing is known from `at` on; or that a component of it may have come under maintenance.
 */
export interface Entry {
  kind: "check" | "heartbeat" | "away" | "maintenance";
  watched: Watched;
  /** Unix ms. */
  at: number;
  /** Real time since the result before it, in ms, whatever the wall clock says; 0 if not known. */
  elapsedMs?: number | undefined;
  outcome: CheckOutcome;
  latencyMs: number | null;
  message: string | null;
  /** The text that may be published; absent if it is the same as `message`. */
  publicMessage?: string | undefined;
  /** Absent where no certificate was seen. */
  certificateExpiresAt?: number | undefined;
  /** Whoever waits for it to be stored. */
  waiters?: PromiseWithResolvers<CheckRow | undefined>[] | undefined;
}

/** What became of an entry. */
export interface Recorded {
  entry: Entry;
  /** Where the rules stand then; undefined where the monitor is paused or deleted and nothing was written. */
  standing: Standing | undefined;
  check: CheckRow | undefined;
}

type Evaluated = Omit<JudgedRow, keyof Standing> & { standing: Standing };

/**
 * Writes some entries in their order, each with all that follows from it. What they change is decided here,
 * by what the database holds: so nothing is told twice, whatever was tried before, and nothing is written of
 * a monitor that was paused or deleted meanwhile. `isPlain` leaves events and incidents away.
 */
export function recordEntries(
  ctx: Services,
  tx: Tx,
  entries: readonly Entry[],
  isPlain: boolean,
): Recorded[] {
  if (entries.length === 0) return [];
  const nums = JSON.stringify([...new Set(entries.map(({ watched }) => watched.num))]);
  const evaluated = new Map<number, Evaluated>();
  for (const row of listJudged(tx, { nums })) {
    evaluated.set(row.num, { ...row, standing: standingOf(row) });
  }
  return entries.map((entry) => {
    const monitor = evaluated.get(entry.watched.num);
    if (!monitor || monitor.paused) return { entry, standing: undefined, check: undefined };
    return recordOne(ctx, tx, entry, monitor, isPlain);
  });
}

/** `monitor` is brought up to date. */
function recordOne(
  ctx: Services,
  tx: Tx,
  entry: Entry,
  monitor: Evaluated,
  isPlain: boolean,
): Recorded {
  const isResult = entry.kind === "check" || entry.kind === "heartbeat";
  const check = isResult ? keepResult(tx, entry, monitor) : undefined;
  const isSilenced = monitor.isSilenced === 1;
  if (entry.kind === "maintenance" && !isSilenced) {
    return { entry, standing: monitor.standing, check };
  }
  const observation = {
    at: check?.at ?? entry.at,
    outcome: entry.outcome,
    latencyMs: entry.latencyMs,
  };
  // Nobody knows what this server was not there to see, under maintenance or not.
  const isInMaintenance = isSilenced && entry.kind !== "away";
  const before = monitor.standing;
  const { standing, transition } = decide(before, observation, monitor, isInMaintenance);
  monitor.standing = standing;
  if (transition) {
    const row = findMonitor(tx, { id: monitor.id });
    const { message, publicMessage } = entry;
    const entered = { from: transition.from, standing, message, publicMessage };
    // One transaction writes the results of many monitors.
    if (row) ctx.outbox.group(tx, () => (isPlain ? writeState : enter)(ctx, tx, row, entered));
  } else if (standing !== before) {
    saveStanding(tx, { ...standing, monitorNum: monitor.num });
  }
  return { entry, standing, check };
}

/**
 * Writes a result. One that is older than the result before it, since the clock was set back, comes right
 * behind that; during an outage it comes behind by the time that really passed, so outages keep their length.
 */
function keepResult(tx: Tx, entry: Entry, monitor: Evaluated): CheckRow {
  const { num: monitorNum } = monitor;
  const elapsedMs = monitor.standing.state === "down" ? Math.floor(entry.elapsedMs ?? 0) : 0;
  const earliest = (monitor.lastAt ?? -1) + Math.max(1, elapsedMs);
  const at = Math.max(Math.round(entry.at), earliest);
  monitor.lastAt = at;
  const latencyMs = entry.latencyMs === null ? null : Math.round(entry.latencyMs);
  const check = { monitorNum, at, outcome: entry.outcome, latencyMs, message: entry.message };
  insertCheck(tx, check);
  if (entry.kind === "heartbeat") saveHeartbeat(tx, { monitorNum, at });
  const expiresAt = entry.certificateExpiresAt;
  if (expiresAt !== undefined && expiresAt !== monitor.certificateExpiresAt) {
    monitor.certificateExpiresAt = expiresAt;
    saveCertificate(tx, { monitorNum, expiresAt });
  }
  return check;
}
