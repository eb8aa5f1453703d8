/** How far an incident is. Any may follow any other. */
export const INCIDENT_STATUSES = ["investigating", "identified", "monitoring", "resolved"] as const;

export type IncidentStatus = (typeof INCIDENT_STATUSES)[number];

/** How bad an incident is, best to worst. */
export const IMPACTS = ["none", "minor", "major", "critical"] as const;

export type Impact = (typeof IMPACTS)[number];

/** How far a maintenance is. The last two are final. */
export const MAINTENANCE_STATUSES = [
  "scheduled",
  "in_progress",
  "verifying",
  "completed",
  "cancelled",
] as const;

export type MaintenanceStatus = (typeof MAINTENANCE_STATUSES)[number];
