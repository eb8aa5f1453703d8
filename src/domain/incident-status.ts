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
