import type { TSchema } from "@sinclair/typebox";
import type { Egress } from "../../egress";
import type { FieldError } from "../../errors";
import type { Clock } from "../../kernel/clock";
import type { CheckOutcome, MonitorType } from "../../kernel/monitor-state";
import type { AssertionEvaluator } from "./assertions";

/** How one check ended. A fault of the target is a value, never thrown. */
export interface ProbeResult {
  /** `unknown` where this server could not find out. */
  outcome: CheckOutcome;
  /** From the first step to the last, in ms; null where nothing answered. */
  latencyMs: number | null;
  /** What was wrong, for people, 300 characters at most; null where nothing was. Holds no secret. */
  message: string | null;
  /**
   * What may be published of it: what was seen, nothing of the monitor's configuration. The same as
   * `message` where it is left out.
   */
  publicMessage?: string | undefined;
  /** When the certificate that was shown ends, in unix ms. */
  certificateExpiresAt?: number;
}

/** What a probe works with. */
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
  /** What people call it. */
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
   * Whether its messages may tell what is for those alone who manage monitors, such as the addresses that a
   * name has inside: no incident repeats them. False where this is left out.
   */
  hasPrivateMessages?: boolean;
  /** What is wrong beyond the schema; pointers begin at the config, such as `#/url`. */
  validate(config: Config): FieldError[];
  /** The config as it is shown: no header value and no body. */
  present(config: Config): object;
  /**
   * The config after a change that names some of its fields; null clears one. A secret that is not
   * named is kept.
   */
  merge(before: Config, change: Partial<Config>): Config;
  /**
   * What is wrong with a change itself, where its outcome cannot tell: such as secrets that it would
   * take to another server.
   */
  validateChange?: (before: Config, change: Partial<Config>) => FieldError[];
  /** What is watched, in a few words for lists: no credentials, no query. */
  targetOf(config: Config): string;
  /** Undefined for what is not asked but calls by itself. */
  run?: (config: Config, context: ProbeContext) => Promise<ProbeResult>;
}
