import type { TObject, TSchema } from "@sinclair/typebox";
import type { Clock } from "../../base/clock";
import { type FieldError, unavailable } from "../../base/errors";
import type { CheckOutcome, MonitorType } from "../../base/status";
import type { Egress } from "../../egress/egress";
import type { Certificate, Contact } from "../../egress/model";
import type { Step, StepRecorder } from "../../egress/steps";
import type { Ctx } from "../../context";
import type { AgentResult } from "../locations/agent-wire";
import { countMonitorsByLocation, type LocationCount } from "../locations/store";
import { type ContactSource, storedContactSource } from "./agent-contact";
import type { AssertionEvaluator } from "./assertions/evaluator";
import type { CheckRow } from "./checks-store";
import type { TokenKey } from "./job-store";

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

/** A requested check of a monitor at another location. */
export interface LocationCheck {
  locationId: string;
  /** Undefined if there is no result. */
  check?: Pick<CheckRow, "at" | "outcome" | "latencyMs" | "message">;
  steps: readonly Step[];
  /** Reason for which there is no result. */
  error?: string;
}

/** Result of a check that was made at once, and those of the other locations of its monitor, in their order. */
export interface CheckNowResult extends CheckRow {
  /** Absent for a monitor that only this server checks. */
  locations?: readonly LocationCheck[];
}

/** Interface of the check engine for routes and screens. */
export interface Monitoring extends ContactSource {
  /**
   * Checks a monitor now, whether it is due or not; the result counts as any other. If this process stood still
   * meanwhile, the check is repeated once, and the result is the second one. Resolves when it is stored, or after 70
   * seconds with a failure that waits for the checks of parents; a check that has no result by then goes on, and the
   * promise rejects with `unavailable`. Callers make sure that the monitor exists, does not wait for reports and is not
   * paused. `steps` stays empty if a check had begun before, or if it is repeated because the monitor was changed
   * meanwhile.
   *
   * Other locations of the monitor are asked at the same time, and waited for. The result is that of this server, or
   * the first one of another location if it is none of the monitor's.
   */
  checkNow(id: string, steps?: StepRecorder): Promise<CheckNowResult>;
  /**
   * Counts the report of a job as a check of its monitor, opens a run, or keeps a message. Resolves when it is
   * stored. Signals for paused or deleted monitors are dropped. `arrivedAt` (unix ms) is now if omitted; a signal
   * that arrived before an earlier one was counted counts at the time of that one.
   */
  heartbeat(id: string, beat: Heartbeat, arrivedAt?: number): Promise<void>;
  /** Judges monitors again whose open alerts have changed. */
  alertsChanged(ids: Iterable<string>): void;
  /**
   * Returns the time of the next planned check in unix ms; undefined for monitors that wait for reports, while the
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
  /**
   * Takes the results that the process of an agent sends. Resolves after they are stored; what was taken before, is of
   * another version of its monitor, or of a monitor without this location, is skipped. Rejects with `unavailable` to
   * have the batch sent again.
   */
  takeResults(locationId: string, process: string, results: readonly AgentResult[]): Promise<void>;
  /** Notes a request of the agent of a location. */
  noteCall(locationId: string, agentVersion: string): void;
  /** Counts the monitors that other locations check, by their state at each location. */
  countByLocation(): readonly LocationCount[];
  /** Returns true if this process has stood still again and again for a minute, so that it cannot judge targets. */
  isTooBusy(): boolean;
}

/**
 * Creates the engine for processes that run no checks, such as commands. Checks reject with
 * `unavailable`.
 */
export function createIdleMonitoring(ctx: Pick<Ctx, "db" | "clock">): Monitoring {
  const refuse = () =>
    Promise.reject(unavailable("No checks are running at the moment. Try again.", 5));
  return {
    checkNow: refuse,
    heartbeat: refuse,
    // Judged at the next start.
    alertsChanged: () => {},
    nextCheckAt: () => undefined,
    tryOut: refuse,
    takeResults: refuse,
    noteCall: () => {},
    ...storedContactSource(ctx),
    countByLocation: () => countMonitorsByLocation(ctx.db, {}),
    isTooBusy: () => false,
  };
}

/** Result of one check. A fault of the target is a value, never thrown. */
export interface ProbeResult {
  /** `unknown` if this server could not perform the check. */
  outcome: CheckOutcome;
  /** Duration of all steps, in ms; null without a response. */
  latencyMs: number | null;
  /** Description of the failure, at most 300 characters; null without one. Contains no secret. */
  message: string | null;
  /** True for a success that only degrades the monitor. */
  isDegraded?: boolean | undefined;
  /** Time since which it holds what was observed, in unix ms; absent if that is unknown. */
  since?: number | undefined;
  /**
   * Description for the public: the observation, nothing of the monitor's configuration. Defaults
   * to `message`.
   */
  publicMessage?: string | undefined;
  /**
   * True if no request reached the target: this server did not allow or could not send it, or a token server
   * or proxy failed. Nothing is then known of the target.
   */
  isOwnFault?: boolean;
  /** True for a failure that may be none, since what decides was not read or not evaluated. */
  isUndecided?: boolean;
  /** Installations of Allclear behind a page of a provider that was read. */
  via?: readonly string[];
  /** Names of the components of a page of a provider, for its form. */
  offered?: readonly string[];
  /** Certificate that was shown; of several, the one that expires first. */
  certificate?: SeenCertificate;
  /** Host that the check contacted last; absent if the check was not run. */
  contact?: Contact;
}

/**
 * Returns the result that counts for an inverted monitor: a success has failed, and a failure has
 * succeeded. A check from which nothing is known of the target is unknown, and one that decides nothing has
 * failed in any case.
 */
export function invertResult(result: ProbeResult): ProbeResult {
  const { outcome, message, isOwnFault = false, isUndecided = false } = result;
  if (outcome === "unknown" || isUndecided) return result;
  if (isOwnFault) return { ...result, outcome: "unknown" };
  const detail = message === null ? "" : ` ${message}`;
  if (outcome === "failed") {
    return { ...result, outcome: "ok", message: `Inverted: the check itself failed.${detail}` };
  }
  return {
    ...result,
    outcome: "failed",
    message: `Inverted: the check itself succeeded.${detail}`,
    publicMessage: "The check succeeded unexpectedly.",
  };
}

/** Certificate of a checked server, or of its chain, that expires first. */
export type SeenCertificate = Pick<Certificate, "expiresAt" | "fingerprint" | "host"> &
  Partial<Pick<Certificate, "intermediate">>;

/** Dependencies of a probe. */
export interface ProbeContext {
  egress: Egress;
  clock: Clock;
  /** Evaluates assertions that may take long. */
  evaluator: AssertionEvaluator;
  /** Aborts at the monitor's timeout, and when the server stops: one deadline over all steps. */
  signal: AbortSignal;
  /** Records the steps, if anyone asked for them. */
  steps?: StepRecorder | undefined;
  /** Host that was contacted last. Each call of `egress` gets it, and fills it in. */
  contact?: Contact | undefined;
  /** Id of this installation, as pages of Allclear name it, for monitors of providers. */
  installation?: string | undefined;
}

/** A type of monitor: a file in `probes/` and a line in its registry. */
export interface Probe<Type extends MonitorType, Config extends object> {
  type: Type;
  /** Name of the type on screens. */
  label: string;
  /** Strict schema of `config` in a create body (`additionalProperties: false`), with its secrets. */
  config: TObject;
  /**
   * Strict schema of `config` in a change. By default the fields of `config`, each optional, and
   * nullable if it is optional in a create body.
   */
  change?: TSchema;
  /** Schema of `config` in answers, without secrets. */
  shown: TSchema;
  /** Longest interval in seconds; a day if omitted. */
  maxIntervalSeconds?: number;
  /** True if a monitor may have no interval, and with it no deadline. Defaults to false. */
  canOmitInterval?: boolean;
  /** Default of `failure_threshold`; 3 if omitted. */
  failureThreshold?: number;
  /**
   * True if the state follows from reports alone: no interval, thresholds of 1, nothing slow or inverted. Defaults to
   * false.
   */
  isReported?: boolean;
  /** Defaults of the intervals and the shortest interval, in seconds; 60, 10 and 5 if omitted. */
  intervals?: { default: number; retry: number; least: number };
  /**
   * True if its messages may contain internal details, such as the addresses of a name. Incidents
   * then do not repeat them. Defaults to false.
   */
  hasPrivateMessages?: boolean;
  /**
   * Returns errors that the schema cannot express; pointers start at the config, such as `#/url`.
   */
  validate(config: Config): FieldError[];
  /** Returns the name of a program that checks need and this server lacks; undefined if nothing is missing. */
  findMissingProgram?: () => string | undefined;
  /** Returns the config as it is shown, without secrets. */
  present(config: Config): object;
  /**
   * Returns the config after a change: null clears a field, others that are left out stay,
   * including secrets.
   */
  merge(before: Config, change: Partial<Config>): Config;
  /**
   * Returns errors of a change that its outcome cannot show, such as secrets that would go to
   * another server.
   */
  validateChange?: (before: Config, change: Partial<Config>) => FieldError[];
  /** Returns a short form of the target for lists, without credentials and query. */
  targetOf(config: Config): string;
  /**
   * Runs a check; undefined for monitors that wait for reports. Loads the library of the type, which a server
   * without such a monitor does not need.
   */
  run?: (config: Config, context: ProbeContext) => Promise<ProbeResult>;
}

/** Reason for which a monitor that waits for reports cannot be checked. */
export const CANNOT_CHECK = "This monitor waits for reports and cannot be checked.";

/** Error for callers that wait for a result when the server stops. */
export function closing(): Error {
  return unavailable("The server is shutting down.", 5);
}
