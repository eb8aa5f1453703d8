/*
 * What servers and agents of locations send each other. Times are ages on the monotonic clock of the agent, so that a
 * wrong clock of it does not matter. Each result is examined on its own: an invalid one never loses the others.
 */
import { type Static, Type } from "@sinclair/typebox";
import { Nullable, OneOf, Text } from "../../base/schema";
import { CHECK_OUTCOMES, MONITOR_TYPES } from "../../base/status";
import { DAY_MS, MINUTE_MS } from "../../base/time";
import { STEP_NAMES, STEPS_MAX } from "../../egress/steps";
import { REQUESTS_MAX } from "./check-requests";

/** Header with the version of an agent. */
export const AGENT_VERSION = "allclear-agent-version";

/** Paths of the two routes, on which the token of a location works. */
export const WORK_PATH = "/api/v1/probe/work";
export const RESULTS_PATH = "/api/v1/probe/results";

/** Age from which a result that waits at an agent is dropped. The time since then is without data. */
export const RESULT_AGE_MAX_MS = 10 * MINUTE_MS;

/** Limits of a batch of results. */
export const RESULTS_MAX = 1_000;
export const RESULTS_MAX_BYTES = 256 * 1024;

/** Longest message of a result, in characters. */
export const MESSAGE_MAX = 400;
const VIA_MAX = 50;

const Age = Type.Number({ minimum: 0, maximum: DAY_MS });
const Message = Text({ maxLength: MESSAGE_MAX });
const Id = Text({ minLength: 1, maxLength: 64 });

const WireStep = Type.Object({
  name: OneOf(STEP_NAMES),
  duration_ms: Type.Number({ minimum: 0, maximum: DAY_MS }),
  ok: Type.Boolean(),
  detail: Nullable(Text({ maxLength: 1_000 })),
});

/** Newest time that has a date, in unix ms. */
const DATE_MAX = 8_640_000_000_000_000;

const WireCertificate = Type.Object({
  host: Text({ maxLength: 300 }),
  fingerprint: Text({ maxLength: 128 }),
  expires_at: Type.Integer({ minimum: 0, maximum: DATE_MAX }),
  intermediate: Type.Optional(Nullable(Text({ maxLength: 300 }))),
});

/**
 * A result of a location: an entry of the engine there. `check`: of one check. `held`: held failures count. `away`: the
 * agent did not check, or its results were dropped, so that the time since then is without data.
 */
export const AgentResult = Type.Object({
  /** Rises within a process. A number that was taken before is not taken again. */
  number: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  monitor_id: Id,
  /** Version of the monitor that was checked. */
  version: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  kind: OneOf(["check", "held", "away"]),
  age_ms: Age,
  outcome: OneOf(CHECK_OUTCOMES),
  is_held: Type.Optional(Type.Boolean()),
  /** True if the agent did not reach the server since the check began, so that its own network may be at fault. */
  is_cut_off: Type.Optional(Type.Boolean()),
  is_degraded: Type.Optional(Type.Boolean()),
  /** Age of the beginning of what was observed. */
  since_age_ms: Type.Optional(Type.Number({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  /** Time since the check before. */
  elapsed_ms: Type.Optional(Age),
  latency_ms: Nullable(Age),
  message: Nullable(Message),
  public_message: Type.Optional(Message),
  certificate: Type.Optional(WireCertificate),
  /** Installations of Allclear behind the page of a provider. */
  via: Type.Optional(Type.Array(Text({ pattern: "^[0-9a-f]{24}$" }), { maxItems: VIA_MAX })),
  /** Requests that asked for this check, with its steps. */
  request_ids: Type.Optional(Type.Array(Id, { maxItems: REQUESTS_MAX })),
  steps: Type.Optional(Type.Array(WireStep, { maxItems: STEPS_MAX })),
});
export type AgentResult = Static<typeof AgentResult>;

/** A requested check that an agent cannot make. */
export const FailedCheckRequest = Type.Object({ request_id: Id, detail: Message });
export type FailedCheckRequest = Static<typeof FailedCheckRequest>;

/** A batch of results. Each is examined by `AgentResult` on its own. */
export const ResultsBody = Type.Object({
  /** Random name of the process of the agent. */
  process: Text({ pattern: "^[0-9a-f]{24}$" }),
  results: Type.Array(Type.Unknown(), { maxItems: RESULTS_MAX }),
  failed_requests: Type.Optional(Type.Array(FailedCheckRequest, { maxItems: REQUESTS_MAX })),
});
export interface SentResults {
  process: string;
  results: readonly AgentResult[];
  failed_requests?: readonly FailedCheckRequest[];
}

/** Answer to a batch: numbers of results that were stored or need not be sent again, and of those that were invalid. */
export const ResultsAnswer = Type.Object({ taken: Type.Integer(), invalid: Type.Integer() });

/** A monitor with what its checks need, secrets included. */
export const WorkMonitor = Type.Object({
  id: Id,
  version: Type.Integer({ minimum: 1 }),
  type: OneOf(MONITOR_TYPES),
  config: Type.Object({}),
  interval_seconds: Type.Number({ exclusiveMinimum: 0 }),
  timeout_ms: Type.Number({ exclusiveMinimum: 0 }),
  retry_interval_seconds: Type.Number({ exclusiveMinimum: 0 }),
  failure_threshold: Type.Integer({ minimum: 1 }),
  success_threshold: Type.Integer({ minimum: 1 }),
  degraded_after_ms: Nullable(Type.Number({ minimum: 0 })),
  inverted: Type.Boolean(),
  /** Ids of all its locations in their order, which spread its checks over the interval. */
  locations: Type.Array(Id, { minItems: 1, maxItems: 10 }),
});
export type WorkMonitor = Static<typeof WorkMonitor>;

const CheckRequest = Type.Object({ id: Id, monitor_id: Id, steps: Type.Boolean() });

export const Work = Type.Object({
  /** Id of the agent's location. */
  location: Id,
  /** Time of the server in unix ms, from which an agent that starts counts its own. */
  now: Type.Integer({ minimum: 0 }),
  /** Left out if the entity tag of the request is current. */
  monitors: Type.Optional(Type.Array(WorkMonitor)),
  /** Ids of the monitors that were down from this location, so that an agent that starts knows it; with `monitors`. */
  down: Type.Optional(Type.Array(Id)),
  /** Id by which pages of Allclear name this installation; null before it has a page. */
  installation: Nullable(Text({ maxLength: 64 })),
  check_requests: Type.Array(CheckRequest, { maxItems: REQUESTS_MAX }),
  /** Wait until the next poll, in ms; 0 if the server lets polls wait. */
  poll_after_ms: Type.Integer({ minimum: 0, maximum: MINUTE_MS }),
});
export type Work = Static<typeof Work>;

const VERSION_SHAPE = /^(\d{1,6})\.(\d{1,6})\.\d{1,6}(?:[-+][0-9A-Za-z.+-]{1,40})?$/;

/** Returns true for a text that can be the version of an agent. */
export function isAgentVersion(text: string): boolean {
  return VERSION_SHAPE.test(text);
}

/** Returns true if an agent and a server work together: their versions are one minor version apart at most. */
export function isCompatible(agent: string, server: string): boolean {
  const [, agentMajor, agentMinor] = VERSION_SHAPE.exec(agent) ?? [];
  const [, major, minor] = VERSION_SHAPE.exec(server) ?? [];
  if (agentMajor === undefined || agentMajor !== major) return false;
  return Math.abs(Number(agentMinor) - Number(minor)) <= 1;
}
