import type { TSchema } from "@sinclair/typebox";
import type { Certificate, Contact } from "../../egress/model";
import type { Egress } from "../../egress/egress";
import type { StepRecorder } from "../../egress/steps";
import type { FieldError } from "../../base/errors";
import type { Clock } from "../../base/clock";
import type { CheckOutcome, MonitorType } from "../../base/status";
import type { AssertionEvaluator } from "./assertions/evaluator";

/** Result of one check. A fault of the target is a value, never thrown. */
export interface ProbeResult {
  /** `unknown` if this server could not perform the check. */
  outcome: CheckOutcome;
  /** Duration of all steps, in ms; null without a response. */
  latencyMs: number | null;
  /** Description of the failure, at most 300 characters; null without one. Contains no secret. */
  message: string | null;
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
}

/** A type of monitor: a file in `probes/` and a line in its registry. */
export interface Probe<Type extends MonitorType, Config extends object> {
  type: Type;
  /** Name of the type on screens. */
  label: string;
  /** Strict schema of `config` in a create body (`additionalProperties: false`). */
  config: TSchema;
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
  /** Defaults of the intervals and the shortest interval, in seconds; 60, 10 and 5 if omitted. */
  intervals?: { default: number; retry: number; least: number };
  /**
   * Secret fields of a config: a text, or each value of a record. They are optional, and `present`
   * shows none of them. Omitted if there are none.
   */
  secrets?: Readonly<Record<string, "text" | "values">>;
  /**
   * Names of the secret parts of objects in a config, by field. `present` shows `has_` and their name
   * instead. Omitted if there are none.
   */
  secretParts?: Readonly<Record<string, readonly string[]>>;
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
   * Runs a check; undefined for push monitors, whose jobs call. Loads the code and the library of the
   * type, which a server without such a monitor does not need.
   */
  run?: (config: Config, context: ProbeContext) => Promise<ProbeResult>;
}
