import { unavailable } from "../../errors";
import type { MonitorType } from "../../domain/monitor-state";
import type { CheckRow } from "./checks-store";
import type { ProbeResult } from "./probe";

/** Report of a job that calls. */
export interface Heartbeat {
  outcome: "ok" | "failed";
  /** Duration of the job, as reported. */
  latencyMs: number | null;
  /** 1,000 characters at most. */
  message: string | null;
}

/** Interface of the check engine for routes and screens. */
export interface Monitoring {
  /**
   * Checks a monitor now, whether it is due or not; the result counts as any other. Resolves when it is
   * stored. The monitor is there, is asked (it is no push monitor) and is not paused: callers see to that.
   */
  checkNow(id: string): Promise<CheckRow>;
  /**
   * Counts what a watched job says as a check of its monitor. Resolves when it is stored. What the job of
   * a paused or deleted monitor says is dropped.
   */
  heartbeat(id: string, beat: Heartbeat): Promise<void>;
  /** Runs a check of what is no monitor yet; nothing is written. The config is judged already. */
  tryOut(type: MonitorType, config: object, timeoutMs: number): Promise<ProbeResult>;
}

/**
 * Creates the engine of processes that run no checks, such as commands. Everything is refused with
 * `unavailable`.
 */
export function createIdleMonitoring(): Monitoring {
  const refuse = () => Promise.reject(unavailable("Nothing is checked here now; try again.", 5));
  return { checkNow: refuse, heartbeat: refuse, tryOut: refuse };
}
