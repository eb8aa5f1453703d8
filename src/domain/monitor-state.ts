/** States of a monitor. */
export const MONITOR_STATES = [
  "pending",
  "up",
  "degraded",
  "down",
  "maintenance",
  "paused",
  "no_data",
  "unreachable",
] as const;
export type MonitorState = (typeof MONITOR_STATES)[number];

/**
 * Outcome of one check. `unknown`: a fault of the server itself, which says nothing about the
 * target.
 */
export const CHECK_OUTCOMES = ["ok", "failed", "unknown"] as const;
export type CheckOutcome = (typeof CHECK_OUTCOMES)[number];

/** Statuses that a monitor can give its components while it is down. */
export const ON_DOWN = ["degraded_performance", "partial_outage", "major_outage"] as const;
export type OnDown = (typeof ON_DOWN)[number];

/** Kinds of incident that a monitor can open when it goes down. */
export const OPEN_INCIDENT = ["never", "draft", "automatic"] as const;
export type OpenIncident = (typeof OPEN_INCIDENT)[number];

/**
 * Kinds of heartbeat tokens: generated here, or taken over from another product and used with its
 * addresses.
 */
export const TOKEN_KINDS = ["native", "kuma", "gatus", "healthchecks"] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];

/** Kinds of signals that a job sends: start and end of a run, and messages. */
export const SIGNAL_KINDS = ["start", "success", "fail", "log"] as const;
export type SignalKind = (typeof SIGNAL_KINDS)[number];

/** Types of monitors that this version checks. */
export const SUPPORTED_TYPES = [
  "http",
  "tcp",
  "tls",
  "dns",
  "ping",
  "push",
  "websocket",
  "grpc",
  "postgres",
  "mysql",
  "redis",
  "mqtt",
  "smtp",
  "ssh",
  "docker",
  "domain",
] as const;
export type SupportedType = (typeof SUPPORTED_TYPES)[number];

/**
 * Types of monitors. `unsupported`: an imported monitor that this version cannot check, and keeps paused.
 */
export const MONITOR_TYPES = [...SUPPORTED_TYPES, "unsupported"] as const;
export type MonitorType = (typeof MONITOR_TYPES)[number];
