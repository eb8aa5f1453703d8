import type { StepRecorder } from "../../egress/steps";
import { unavailable } from "../../base/errors";
import type { MonitorType } from "../../base/status";
import type { CheckRow } from "./checks-store";
import type { TokenKey } from "./heartbeat-store";
import type { ProbeResult } from "./probe";

/** Parts of every signal of a monitored job. */
interface Signal {
  /** 1,000 characters at most. */
  message: string | null;
  /** Id that the job gave the run; empty or absent without one. */
  rid?: string;
  /** Token that the job used; absent if it is unknown. */
  token?: TokenKey;
  /** True if the call came from outside, a global address; absent if that is unknown. */
  isFromOutside?: boolean;
}

/** End of a run. */
export interface Report extends Signal {
  outcome: "ok" | "failed";
  /** Duration of the job, as reported. */
  latencyMs: number | null;
  exitCode?: number;
}

/** Signal that says nothing about the outcome of a run: its start, or a message. */
export interface Notice extends Signal {
  kind: "start" | "log";
}

export type Heartbeat = Report | Notice;

/** Interface of the check engine for routes and screens. */
export interface Monitoring {
  /**
   * Checks a monitor now, whether it is due or not; the result counts as any other. If this process stood still
   * meanwhile, the check is repeated once, and the result is the second one. Resolves when
   * it is stored, or after 70 seconds with a failure that waits for the checks of parents; a check that has
   * no result by then goes on, and the promise rejects with `unavailable`. Callers
   * make sure that the monitor exists, is not a push monitor and is not paused. `steps` stays empty if a check
   * had begun before, or if it is repeated because the monitor was changed meanwhile.
   */
  checkNow(id: string, steps?: StepRecorder): Promise<CheckRow>;
  /**
   * Counts the report of a job as a check of its monitor, opens a run, or keeps a message. Resolves when it is
   * stored. Signals for paused or deleted monitors are dropped. `arrivedAt` (unix ms) is now if omitted; a signal
   * that arrived before an earlier one was counted counts at the time of that one.
   */
  heartbeat(id: string, beat: Heartbeat, arrivedAt?: number): Promise<void>;
  /**
   * Returns the time of the next planned check in unix ms; undefined for push monitors, while the
   * monitor is checked or paused, and without an engine.
   */
  nextCheckAt(id: string): number | undefined;
  /**
   * Runs a check with a validated config, without a monitor, for a minute at most; nothing is stored. If this process
   * stood still meanwhile, the check is repeated once, for what is left of 70 seconds, but at least 10.
   */
  tryOut(
    type: MonitorType,
    config: object,
    timeoutMs: number,
    steps?: StepRecorder,
  ): Promise<ProbeResult>;
  /** Returns true if this process has stood still again and again for a minute, so that it cannot judge targets. */
  isTooBusy(): boolean;
}

/**
 * Creates the engine for processes that run no checks, such as commands. Checks reject with
 * `unavailable`.
 */
export function createIdleMonitoring(): Monitoring {
  const refuse = () =>
    Promise.reject(unavailable("No checks are running at the moment. Try again.", 5));
  return {
    checkNow: refuse,
    heartbeat: refuse,
    nextCheckAt: () => undefined,
    tryOut: refuse,
    isTooBusy: () => false,
  };
}
