/* Words and marks for the states of incidents and maintenances. */
import {
  type ComponentStatus,
  type Impact,
  IMPACT_TONES,
  type IncidentStatus,
  type MaintenanceStatus,
  type Tone,
} from "../base/status";
import type { Incident } from "../features/incidents/wire";
import type { Maintenance } from "../features/maintenance/wire";
import { State } from "../ui/blocks";

/** Impact of an open incident, its status if it has no impact, or that it is resolved. */
export function IncidentState({ incident }: { incident: Pick<Incident, "status" | "impact"> }) {
  const { status, impact } = incident;
  const tone = IMPACT_TONES[impact];
  // The shape says the impact, also of a resolved incident.
  if (status === "resolved" || impact === "none") {
    return <State tone={tone}>{INCIDENT_WORDS[status]}</State>;
  }
  return <State tone={tone}>{IMPACT_WORDS[impact]}</State>;
}

/** Tones of maintenance by status. */
export const MAINTENANCE_TONES: Record<Maintenance["status"], Tone> = {
  scheduled: "none",
  in_progress: "maint",
  verifying: "maint",
  completed: "maint",
  cancelled: "none",
};

/** Status of a maintenance. */
export function MaintenanceState({ maintenance }: { maintenance: Pick<Maintenance, "status"> }) {
  const { status } = maintenance;
  return <State tone={MAINTENANCE_TONES[status]}>{MAINTENANCE_WORDS[status]}</State>;
}

/**
 * Returns true if an incident no longer gives a component a status: it is resolved, or its newest update of
 * the component ended it.
 */
export function hasEnded(status: ComponentStatus, isOpen: boolean): boolean {
  return !isOpen || status === "operational";
}

export const INCIDENT_WORDS: Record<IncidentStatus, string> = {
  investigating: "Investigating",
  identified: "Identified",
  monitoring: "Monitoring",
  resolved: "Resolved",
};

export const MAINTENANCE_WORDS: Record<MaintenanceStatus, string> = {
  scheduled: "Scheduled",
  in_progress: "In progress",
  verifying: "Verifying",
  completed: "Completed",
  cancelled: "Cancelled",
};

export const IMPACT_WORDS: Record<Impact, string> = {
  none: "No impact",
  minor: "Minor impact",
  major: "Major impact",
  critical: "Critical impact",
};
