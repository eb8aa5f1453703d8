import type { Clock } from "../../../base/clock";
import type { Occurrences } from "../../../base/cron";
import type { MonitorState, SignalKind } from "../../../base/status";
import { HOUR_MS, MINUTE_MS } from "../../../base/time";
import type { Tx } from "../../../db/statements";
import type { Heartbeat, Report } from "../monitoring";
import { isHeldStreak } from "../rules";
import {
  deleteRuns,
  insertSignal,
  saveRun,
  type TokenKey,
  touchToken,
  trimSignals,
} from "../job-store";

/*
 * The job of a push monitor: the deadlines of its calls, its open runs, and the signals that it sends. Signals change
 * the runs in memory at once, and are written with the results.
 */

/** Maximum number of open runs of a monitor. */
const OPEN_RUNS_MAX = 20;

/** Run whose start was reported. */
interface OpenRun {
  /** Id that the job gave it; empty without one. */
  rid: string;
  /** Unix ms. */
  startedAt: number;
}

/** Deadlines of the job of a push monitor. */
export interface Job {
  /** Times at which calls are due; undefined without a schedule. */
  schedule: Occurrences | undefined;
  /** Time of the schedule at which the next call is due, in unix ms; Infinity without a schedule. */
  nextCallAt: number;
  /**
   * Time by which the job has to call whatever its schedule, on the monotonic clock; Infinity without such a
   * time.
   */
  callBy: number;
  /** Open runs, in the order of their starts. Late ones stay until they end. */
  runs: readonly OpenRun[];
  /** Runs with a deadline up to this time (unix ms) do not fail the check again. */
  countedUntil: number;
  /** Last recorded use of a token, and its time in unix ms. */
  lastUse?: { token: TokenKey; at: number };
}

/** Deadline that has passed, and the time on the monotonic clock from which the missing call was expected. */
export interface Missed {
  what: "call" | "end";
  since: number;
}

/** Settings and state of a push monitor that decide about its deadlines. */
interface JobSettings {
  heartbeatAt: number | null;
  evaluation: { state: MonitorState; since: number; failures: number };
  intervalMs: number;
  graceMs: number;
  lastStartedAt: number | undefined;
}

/** Shared, since most jobs have none. */
const NO_RUNS: readonly OpenRun[] = [];

/** Returns the job of a monitor that was read with its open runs, a JSON list. */
export function newJob(schedule: Occurrences | undefined, runs: string): Job {
  const none = { nextCallAt: Infinity, callBy: Infinity, countedUntil: 0 };
  return { ...none, schedule, runs: runsOf(runs) };
}

/** Returns the open runs of a JSON list. */
export function runsOf(list: string): readonly OpenRun[] {
  return list === "[]" ? NO_RUNS : (JSON.parse(list) as OpenRun[]);
}

/**
 * Sets the deadlines after a start, a change, a time in which the server was offline, or a clock that was set back
 * by hours. A job that was due meanwhile may have called then, so it has until its next time; one that was due
 * before keeps its deadline. A run may have ended then, so it is not late.
 */
export function startDeadlines(
  job: Job,
  settings: JobSettings,
  clock: Clock,
  wasOfflineAt: (at: number) => boolean,
): void {
  const { heartbeatAt, evaluation, intervalMs, graceMs } = settings;
  const { state, since } = evaluation;
  const now = clock.now();
  const isNew = heartbeatAt === null || state === "pending";
  // A call in the future came while the clock was ahead.
  const calledAt = Math.min(isNew ? Math.max(heartbeatAt ?? 0, since) : heartbeatAt, now);
  const expectedAt = calledAt + intervalMs;
  const isExpected = expectedAt > now || (expectedAt + graceMs > now && !wasOfflineAt(expectedAt));
  const timeToCall = (isExpected ? expectedAt - now : intervalMs) + graceMs;
  const longest = isHeldStreak(evaluation) ? timeToCallAgain(settings) : Infinity;
  job.countedUntil = now;
  job.callBy = clock.monotonic() + Math.min(timeToCall, longest);
  // Deadlines that have passed are left out.
  job.nextCallAt = callAfter(job, Math.max(calledAt, now - graceMs));
  if (wasOfflineAt(job.nextCallAt)) job.nextCallAt = callAfter(job, now);
}

/** Returns the time that a job has for a further call after it may have called in vain, in ms. */
export function timeToCallAgain({
  intervalMs,
  graceMs,
}: Pick<JobSettings, "intervalMs" | "graceMs">): number {
  return Math.min(intervalMs, HOUR_MS) + graceMs;
}

/** Returns the next time of the schedule after a time (unix ms); Infinity without one. */
function callAfter({ schedule }: Job, at: number): number {
  return schedule?.next(at) ?? Infinity;
}

/** Sets the deadlines after a report at `at` (unix ms). */
export function afterReport(
  job: Job,
  { intervalMs, graceMs }: JobSettings,
  clock: Clock,
  at: number,
): void {
  job.callBy = clock.monotonic() - (clock.now() - at) + intervalMs + graceMs;
  job.nextCallAt = callAfter(job, at);
}

/** Returns the first deadline of a job that is ahead, on the monotonic clock; Infinity without one. */
export function nextDeadline(job: Job, { graceMs }: JobSettings, clock: Clock): number {
  let dueAt = job.nextCallAt;
  // Their starts are out of order if the clock was set back.
  for (const { startedAt } of job.runs) {
    if (startedAt + graceMs > job.countedUntil) dueAt = Math.min(dueAt, startedAt);
  }
  return Math.min(job.callBy, clock.monotonic() + dueAt + graceMs - clock.now());
}

/** Returns the deadline that a job has missed by now; undefined if the clock was set back. */
export function missedDeadline(job: Job, settings: JobSettings, clock: Clock): Missed | undefined {
  const { intervalMs, graceMs, lastStartedAt = Number.NEGATIVE_INFINITY } = settings;
  const [now, wallTime] = [clock.monotonic(), clock.now()];
  const unfinished = job.runs.find(({ startedAt }) => {
    const endBy = startedAt + graceMs;
    return endBy > job.countedUntil && endBy <= wallTime;
  });
  if (unfinished) return { what: "end", since: now - (wallTime - unfinished.startedAt) };
  if (job.nextCallAt + graceMs <= wallTime) {
    return { what: "call", since: now - (wallTime - job.nextCallAt) };
  }
  if (job.callBy > now) return undefined;
  // Without an interval, it is the further call after one that was made in vain.
  const timeMs = intervalMs === Infinity ? timeToCallAgain(settings) : intervalMs + graceMs;
  return { what: "call", since: Math.max(now - timeMs, lastStartedAt) };
}

/** Sets the deadlines after a check at `at` (unix ms) that failed because one was missed. */
export function afterMissed(
  job: Job,
  { intervalMs, graceMs }: JobSettings,
  clock: Clock,
  at: number,
): void {
  job.countedUntil = at;
  if (job.nextCallAt + graceMs <= at) job.nextCallAt = callAfter(job, job.nextCallAt);
  if (job.callBy <= clock.monotonic()) job.callBy = clock.monotonic() + intervalMs;
}

/**
 * Opens a run at `at` (unix ms); an open one with the same id starts again. Of too many, the oldest late one
 * is given up. Returns its id, if any; false if there are too many and none is late, so that none was opened.
 */
function openRun(
  job: Job,
  rid: string,
  at: number,
  graceMs: number,
): { givenUp: string | undefined } | false {
  const others = job.runs.filter((run) => run.rid !== rid);
  const [oldest] = others;
  const isFull = others.length >= OPEN_RUNS_MAX;
  if (isFull && oldest && oldest.startedAt + graceMs > at) return false;
  job.runs = [...(isFull ? others.slice(1) : others), { rid, startedAt: at }];
  return { givenUp: isFull ? oldest?.rid : undefined };
}

/**
 * Ends the runs to which a report belongs: a success with an id ends its own, any other report ends all.
 * Returns the start of its own run (unix ms), if that is known.
 */
function endRuns(job: Job, rid: string, endsAll: boolean): number | null {
  const own = job.runs.find((run) => run.rid === rid);
  if (endsAll) job.runs = [];
  else if (own) job.runs = job.runs.filter((run) => run !== own);
  return own?.startedAt ?? null;
}

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
  if (token) touchToken(tx, { ...token, lastUsedAt: at });
  if (!isKept(signal)) return;
  insertSignal(tx, { monitorNum, at, kind, rid, exitCode, startedAt, durationMs, message });
  trimSignals(tx, { monitorNum, kept: SIGNALS_KEPT });
}

/** Returns true for a signal that contains more than its result, which most heartbeats do not. */
function isKept({ kind, rid, exitCode, startedAt, message }: SignalEntry): boolean {
  const isReport = kind === "success" || kind === "fail";
  return !isReport || rid !== "" || (exitCode ?? startedAt ?? message) !== null;
}
