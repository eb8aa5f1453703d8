/** The five statuses of a component, best to worst. Their order is the product's severity order. */
export const COMPONENT_STATUSES = [
  "operational",
  "under_maintenance",
  "degraded_performance",
  "partial_outage",
  "major_outage",
] as const;

export type ComponentStatus = (typeof COMPONENT_STATUSES)[number];

/** The statuses that people and incidents can set, best to worst. Maintenance sets the other one. */
export const NAMED_STATUSES = [
  "operational",
  "degraded_performance",
  "partial_outage",
  "major_outage",
] as const satisfies readonly ComponentStatus[];

export type NamedStatus = (typeof NAMED_STATUSES)[number];

/** Sources that can give a component a status. */
export const CAUSE_SOURCES = [
  "manual",
  "api",
  "incident",
  "maintenance",
  "monitor",
  "import",
] as const;

export type CauseSource = (typeof CAUSE_SOURCES)[number];

/** Returns a number that is greater for a worse status; 0 for `operational`. */
export function badnessOf(status: ComponentStatus): number {
  return COMPONENT_STATUSES.indexOf(status);
}

/** The worst of some statuses; `operational` when there are none. */
export function worstStatus(statuses: Iterable<ComponentStatus>): ComponentStatus {
  let worst = 0;
  for (const status of statuses) worst = Math.max(worst, badnessOf(status));
  return COMPONENT_STATUSES[worst] ?? "operational";
}

/** Progress of an incident. Any status may follow any other. */
export const INCIDENT_STATUSES = ["investigating", "identified", "monitoring", "resolved"] as const;

export type IncidentStatus = (typeof INCIDENT_STATUSES)[number];

/** Statuses of an incident that is not resolved. */
export const OPEN_INCIDENT_STATUSES = [
  "investigating",
  "identified",
  "monitoring",
] as const satisfies readonly IncidentStatus[];

export type OpenIncidentStatus = (typeof OPEN_INCIDENT_STATUSES)[number];

/** Severity of an incident, best to worst. */
export const IMPACTS = ["none", "minor", "major", "critical"] as const;

export type Impact = (typeof IMPACTS)[number];

/** Progress of a maintenance. The last two are final. */
export const MAINTENANCE_STATUSES = [
  "scheduled",
  "in_progress",
  "verifying",
  "completed",
  "cancelled",
] as const;

export type MaintenanceStatus = (typeof MAINTENANCE_STATUSES)[number];

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

/** Number of locations that must find a monitor down before it is down, of those that report. */
export const DOWN_WHEN = ["any", "majority", "all"] as const;

export type DownWhen = (typeof DOWN_WHEN)[number];

/** Location of this server. */
export const LOCAL = "local";

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
export type TokenKind = "native" | "kuma" | "gatus" | "healthchecks";

/** Kinds of signals that a job sends: start and end of a run, and messages. */
const SIGNAL_KINDS = ["start", "success", "fail", "log"] as const;
export type SignalKind = (typeof SIGNAL_KINDS)[number];

/** Types of monitors that this version checks, in the order of screens, and their names in Uptime Kuma. */
const KUMA_TYPES = {
  http: "http",
  tcp: "port",
  tls: "port",
  dns: "dns",
  ping: "ping",
  push: "push",
  alert: "push",
  websocket: "websocket-upgrade",
  grpc: "grpc-keyword",
  postgres: "postgres",
  mysql: "mysql",
  redis: "redis",
  mqtt: "mqtt",
  smtp: "smtp",
  ssh: "port",
  docker: "docker",
  domain: "dns",
  upstream: "http",
} as const;
export type SupportedType = keyof typeof KUMA_TYPES;
export const SUPPORTED_TYPES = Object.keys(KUMA_TYPES) as readonly SupportedType[];

/**
 * Types of monitors. `unsupported`: an imported monitor that this version cannot check, and keeps paused.
 */
export type MonitorType = SupportedType | "unsupported";
export const MONITOR_TYPES: readonly MonitorType[] = [...SUPPORTED_TYPES, "unsupported"];

/** Returns true for types of monitors that wait for reports: the server contacts no target, and cannot check them at once. */
export function isPassive(type: MonitorType): boolean {
  return type === "push" || type === "alert";
}

/** Returns true for types of monitors that are degraded by times which they measure. Others take over what is reported. */
export function isTimed(type: MonitorType): boolean {
  return type !== "alert" && type !== "upstream";
}

/** Senders of alerts by the form of their bodies. `json`: any other, read by a mapping. */
export const ALERT_FORMATS = ["alertmanager", "grafana", "json"] as const;
export type AlertFormat = (typeof ALERT_FORMATS)[number];

/** States that an open alert can give its monitor, worst first. */
export type AlertLevel = "down" | "degraded" | "none";

/** Returns the name of a monitor type in Uptime Kuma. A component without monitor is `manual`. */
export function kumaTypeOf(type: MonitorType | undefined): string {
  return type === undefined || type === "unsupported" ? "manual" : KUMA_TYPES[type];
}

/**
 * Severities, best to worst; `none` stands for no information. Each has one colour and one shape, which all
 * statuses, impacts, states and messages use.
 */
export const TONES = ["none", "ok", "maint", "degraded", "partial", "major"] as const;

export type Tone = (typeof TONES)[number];

export const STATUS_TONES: Readonly<Record<ComponentStatus, Tone>> = {
  operational: "ok",
  under_maintenance: "maint",
  degraded_performance: "degraded",
  partial_outage: "partial",
  major_outage: "major",
};

export const IMPACT_TONES: Readonly<Record<Impact, Tone>> = {
  none: "none",
  minor: "degraded",
  major: "partial",
  critical: "major",
};

/** Indicators of a headline, best to worst. */
export const INDICATORS = ["none", "maintenance", "minor", "major", "critical"] as const;

export type Indicator = (typeof INDICATORS)[number];

/** The mildest tone of each indicator. */
export const INDICATOR_TONES: Readonly<Record<Indicator, Tone>> = {
  none: "ok",
  maintenance: "maint",
  minor: "degraded",
  major: "partial",
  critical: "major",
};

/** State of an incident or a maintenance, or of one of its updates with the impact of the incident. */
interface Phase {
  status: IncidentStatus | MaintenanceStatus;
  /** Absent for maintenance. */
  impact?: Impact;
  draft?: boolean;
}

/**
 * Returns the tone of an update by its status, and of an incident or a maintenance by its current one. `monitoring`
 * is at most degraded, and a resolved or completed one is `ok`.
 */
export function phaseTone({ status, impact = "none", draft = false }: Phase): Tone {
  if (draft) return "none";
  switch (status) {
    case "investigating":
    case "identified":
      return IMPACT_TONES[impact];
    case "monitoring":
      return bestTone(IMPACT_TONES[impact], "degraded");
    case "scheduled":
    case "cancelled":
      return "none";
    case "in_progress":
    case "verifying":
      return "maint";
    case "resolved":
    case "completed":
      return "ok";
  }
}

/** Returns the tone of a mark in lists. They show how bad an incident was, and which maintenance took place. */
export function listedTone({ status, impact, draft = false }: Phase): Tone {
  if (impact !== undefined) return draft ? "none" : IMPACT_TONES[impact];
  return status === "completed" ? "maint" : phaseTone({ status });
}

/** Returns the tone of a message about an update. Maintenance that is announced has its own tone before it begins. */
export function messageTone(phase: Phase): Tone {
  return phase.status === "scheduled" ? "maint" : phaseTone(phase);
}

export const MONITOR_TONES: Readonly<Record<MonitorState, Tone>> = {
  up: "ok",
  maintenance: "maint",
  degraded: "degraded",
  down: "major",
  pending: "none",
  no_data: "none",
  paused: "none",
  unreachable: "none",
};

/** Colours of texts in the light theme, for messages, badges and feeds: at least 4.5 : 1 on white. */
export const TONE_COLOURS: Readonly<Record<Tone, string>> = {
  none: "#5c6963",
  ok: "#15753f",
  maint: "#2059b8",
  degraded: "#7f5700",
  partial: "#ab4100",
  major: "#b8202b",
};

/** Colours of texts in the dark theme: at least 4.5 : 1 on #121212. */
export const TONE_COLOURS_IN_DARK: Readonly<Record<Tone, string>> = {
  none: "#98a69f",
  ok: "#57cb91",
  maint: "#86b3ff",
  degraded: "#e3b64a",
  partial: "#ff9f66",
  major: "#ff8585",
};

/** Colours of shapes in the light theme: at least 3 : 1 on light and on dark tabs of browsers. */
export const TONE_FILLS: Readonly<Record<Tone, string>> = {
  none: "#76837d",
  ok: "#3b9c68",
  maint: "#4b86ea",
  degraded: "#b57a00",
  partial: "#e2661a",
  major: "#d93843",
};

function bestTone(one: Tone, other: Tone): Tone {
  return TONES.indexOf(one) < TONES.indexOf(other) ? one : other;
}

/** Returns the worst of some tones; `none` without any. */
export function worstTone(tones: Iterable<Tone>): Tone {
  let worst = 0;
  for (const tone of tones) worst = Math.max(worst, TONES.indexOf(tone));
  return TONES[worst] ?? "none";
}
