import type { CheckOutcome } from "../../../base/status";
import type { CheckRow } from "../checks-store";
import type { SeenCertificate } from "../monitoring";
import type { SignalEntry } from "./job";
import type { ScheduledMonitor } from "./registry";

/** Waiting caller, which receives the stored result, or undefined if nothing was stored. */
export type Waiter = PromiseWithResolvers<CheckRow | undefined>;

/**
 * An entry to write for a monitor: a result, a report of a job, a signal of one without a result, the end of
 * a time in which the server was offline (without data from `at` on), the possible start of maintenance, a reminder
 * that may be due, that its held failures count, or that its locations are to be put together again.
 */
export interface Entry {
  kind: "check" | "heartbeat" | "signal" | "away" | "maintenance" | "reminder" | "held" | "quorum";
  scheduled: ScheduledMonitor;
  /** Id of the other location that observed it; undefined for this server. */
  location?: string;
  /** Unix ms. */
  at: number;
  /** The same on the monotonic clock; absent for results of other locations. */
  startedAt?: number;
  /** Version of the monitor that was checked. */
  version?: number;
  /** Installations of Allclear behind the page of a provider. */
  via?: readonly string[] | undefined;
  /** Monotonic time since the previous result, in ms; 0 if unknown. */
  elapsedMs?: number | undefined;
  /**
   * True for a result of a check that began during maintenance. It does not count, even if the
   * maintenance has ended since.
   */
  hasBegunInMaintenance?: boolean;
  outcome: CheckOutcome;
  /** True for a failure that is held: its outcome is unknown, and it counts if the next check fails. */
  isHeld?: boolean;
  /** True for a success that only degrades the monitor. */
  isDegraded?: boolean | undefined;
  /** Time since which it holds what was observed, in unix ms; absent if that is unknown. */
  since?: number | undefined;
  latencyMs: number | null;
  message: string | null;
  /** The text that may be published; absent if it is the same as `message`. */
  publicMessage?: string | undefined;
  /** True if the parents were checked since what was observed, or need not be. */
  hasAskedParents?: boolean;
  /** Ids of parents whose failed check is not counted yet; absent without any. */
  uncountedParents?: readonly string[] | undefined;
  /** Absent without a certificate. */
  certificate?: SeenCertificate | undefined;
  /** Signal of a job. */
  signal?: SignalEntry | undefined;
  /** Callers that wait until it is stored. */
  waiters?: Waiter[] | undefined;
}
