/** What can be said of a monitor. */
export const MONITOR_STATES = [
  "pending",
  "up",
  "degraded",
  "down",
  "maintenance",
  "paused",
  "no_data",
] as const;
export type MonitorState = (typeof MONITOR_STATES)[number];

/** How one check ended. `unknown`: the server could not have known, and says nothing of the target. */
export const CHECK_OUTCOMES = ["ok", "failed", "unknown"] as const;
export type CheckOutcome = (typeof CHECK_OUTCOMES)[number];

/** What a monitor that is down marks its components with. */
export const ON_DOWN = ["degraded_performance", "partial_outage", "major_outage"] as const;
export type OnDown = (typeof ON_DOWN)[number];

/** Whether a monitor that goes down opens an incident. */
export const OPEN_INCIDENT = ["never", "draft", "automatic"] as const;
export type OpenIncident = (typeof OPEN_INCIDENT)[number];

/** The kinds of check. */
export const MONITOR_TYPES = ["http", "tcp", "tls", "dns", "ping", "push"] as const;
export type MonitorType = (typeof MONITOR_TYPES)[number];
