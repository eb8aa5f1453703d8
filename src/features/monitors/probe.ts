import type { TSchema } from "@sinclair/typebox";
import type { Egress } from "../../egress";
import type { FieldError } from "../../errors";
import type { Clock } from "../../kernel/clock";
import type { CheckOutcome, MonitorType } from "../../domain/monitor-state";
import type { AssertionEvaluator } from "./assertions";

/** Result of one check. A fault of the target is a value, never thrown. */
export interface ProbeResult {
  /** `unknown` if this server could not perform the check. */
  outcome: CheckOutcome;
  /** From the first step to the last, in ms; null where nothing answered. */
  latencyMs: number | null;
  /** Description of the failure, at most 300 characters; null without one. Contains no secret. */
  message: string | null;
  /**
   * Description for the public: the observation, nothing of the monitor's configuration. Defaults
   * to `message`.
   */
  publicMessage?: string | undefined;
  /** Expiry of the presented certificate, in unix ms. */
  certificateExpiresAt?: number;
}

/** Dependencies of a probe. */
export interface ProbeContext {
  egress: Egress;
  clock: Clock;
  /** Evaluates assertions that may take long. */
  evaluator: AssertionEvaluator;
  /** Aborts at the monitor's timeout, and when the server stops: one deadline over all steps. */
  signal: AbortSignal;
}

/** One type of monitor. A file in `probes/` and a line in its registry; all else follows from it. */
export interface Probe<Type extends MonitorType, Config extends object> {
  type: Type;
  /** Name of the type on screens. */
  label: string;
  /** The `config` of a body that creates, strict (`additionalProperties: false`). */
  config: TSchema;
  /**
   * The `config` of a body that changes, strict. Where it is left out: the fields of `config`, each
   * optional, and null too where a body that creates may leave it out.
   */
  change?: TSchema;
  /** The `config` of an answer: without secrets. */
  shown: TSchema;
  /** The `failure_threshold` of a monitor that names none; 3 where this is left out. */
  failureThreshold?: number;
  /**
   * The fields of a config that are secrets: a text, or each value of a record. Each may be left out, and
   * `present` shows none of them. Left out where there is none.
   */
  secrets?: Readonly<Record<string, "text" | "values">>;
  /**
   * True if its messages may contain internal details, such as the addresses of a name. Incidents
   * then do not repeat them. Defaults to false.
   */
  hasPrivateMessages?: boolean;
  /**
   * Returns errors that the schema cannot express; pointers start at the config, such as `#/url`.
   */
  validate(config: Config): FieldError[];
  /** The config as it is shown: no header value and no body. */
  present(config: Config): object;
  /**
   * The config after a change that names some of its fields; null clears one. A secret that is not
   * named is kept.
   */
  merge(before: Config, change: Partial<Config>): Config;
  /**
   * Returns errors of a change that its outcome cannot show, such as secrets that would go to
   * another server.
   */
  validateChange?: (before: Config, change: Partial<Config>) => FieldError[];
  /** Returns a short form of the target for lists, without credentials and query. */
  targetOf(config: Config): string;
  /** Undefined for what is not asked but calls by itself. */
  run?: (config: Config, context: ProbeContext) => Promise<ProbeResult>;
}
