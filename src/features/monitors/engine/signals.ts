import type { Tx } from "../../../db/statements";
import type { SignalKind } from "../../../base/status";
import { MINUTE_MS } from "../../../base/time";
import {
  deleteRuns,
  insertSignal,
  saveRun,
  type TokenKey,
  touchToken,
  trimSignals,
} from "../store";
import type { Heartbeat, Report } from "../monitoring";
import { endRuns, type Job, openRun } from "./registry";

/** Number of signals that are kept of each monitor. */
const SIGNALS_KEPT = 100;

/** A signal of a job, with its effect on the open runs. */
export interface SignalEntry {
  kind: SignalKind;
  rid: string;
  exitCode: number | null;
  /** Start of the run that it ended (unix ms); null if that is unknown. */
  startedAt: number | null;
  durationMs: number | null;
  message: string | null;
  /** Token whose use is recorded. */
  token: TokenKey | undefined;
  /** True if it opened a run. */
  opensRun: boolean;
  /** Ids of the runs that it ended or gave up; null for all. */
  ended: readonly string[] | null;
}

/** Returns a signal that arrived at `at` (unix ms), after changing the open runs of its job. */
export function receiveSignal(job: Job, graceMs: number, beat: Heartbeat, at: number): SignalEntry {
  const { rid = "", message } = beat;
  const token = newlyUsed(job, beat.token, at);
  const facts = { rid, message, token, exitCode: null, startedAt: null, durationMs: null };
  if (!("kind" in beat)) return { ...facts, ...receiveReport(job, rid, beat, at) };
  const { kind } = beat;
  const opened = kind === "start" && openRun(job, rid, at, graceMs);
  if (!opened) return { ...facts, kind, opensRun: false, ended: [] };
  const ended = opened.givenUp === undefined ? [] : [opened.givenUp];
  return { ...facts, kind, opensRun: true, ended };
}

/** Returns a token whose use at `at` (unix ms) is recorded: at most once a minute. */
function newlyUsed(job: Job, token: TokenKey | undefined, at: number): TokenKey | undefined {
  const last = job.lastUse;
  if (token === undefined || (last?.token === token && Math.abs(at - last.at) < MINUTE_MS)) {
    return undefined;
  }
  job.lastUse = { token, at };
  return token;
}

function receiveReport(
  job: Job,
  rid: string,
  { outcome, latencyMs, exitCode }: Report,
  at: number,
) {
  const endsAll = outcome === "failed" || rid === "";
  const hadRuns = job.runs.length > 0;
  const startedAt = endRuns(job, rid, endsAll);
  const sinceStart = startedAt === null ? null : Math.max(0, at - startedAt);
  const durationMs = latencyMs ?? sinceStart;
  return {
    kind: outcome === "ok" ? ("success" as const) : ("fail" as const),
    exitCode: exitCode ?? null,
    startedAt,
    durationMs: durationMs === null ? null : Math.round(durationMs),
    opensRun: false,
    ended: endsAll && hadRuns ? null : startedAt === null ? [] : [rid],
  };
}

/** Returns the message of a report's result: its exit code unless that is 0, and what the job said. */
export function reportMessage({ exitCode = 0, message }: Report): string | null {
  if (exitCode === 0) return message;
  const code = `Exit code ${exitCode}.`;
  return message === null ? code : `${code} ${message}`;
}

/** Writes a signal with its arrival (unix ms), its effect on the open runs, and the use of its token. */
export function recordSignal(
  tx: Tx,
  monitorNum: number,
  arrivedAt: number,
  signal: SignalEntry,
): void {
  const at = Math.round(arrivedAt);
  const { kind, rid, exitCode, startedAt, durationMs, message, token, opensRun, ended } = signal;
  if (ended === null) deleteRuns(tx, { monitorNum, rid: null });
  else for (const each of ended) deleteRuns(tx, { monitorNum, rid: each });
  if (opensRun) saveRun(tx, { monitorNum, rid, startedAt: at });
  if (token) touchToken(tx, { ...token, at });
  if (!isKept(signal)) return;
  insertSignal(tx, { monitorNum, at, kind, rid, exitCode, startedAt, durationMs, message });
  trimSignals(tx, { monitorNum, kept: SIGNALS_KEPT });
}

/** Returns true for a signal that contains more than its result, which most heartbeats do not. */
function isKept({ kind, rid, exitCode, startedAt, message }: SignalEntry): boolean {
  const isReport = kind === "success" || kind === "fail";
  return !isReport || rid !== "" || (exitCode ?? startedAt ?? message) !== null;
}
