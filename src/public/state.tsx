/* Words and marks for the states of incidents and maintenances. */
import {
  type ComponentStatus,
  type Impact,
  IMPACT_TONES,
  type IncidentStatus,
  type MaintenanceStatus,
  phaseTone,
} from "../base/status";
import { capitalised } from "../base/text";
import type { Incident } from "../features/incidents/wire";
import type { Maintenance } from "../features/maintenance/wire";
import { State } from "../ui/blocks";

/** Impact of an open incident, or its status without one; of a resolved one, that it is and how bad it was. */
export function IncidentState({ incident }: { incident: Pick<Incident, "status" | "impact"> }) {
  const { status, impact } = incident;
  if (status === "resolved") {
    return (
      <>
        <State tone={phaseTone(incident)}>{INCIDENT_WORDS.resolved}</State>{" "}
        <span class="muted">{capitalised(PAST_IMPACTS[impact])}</span>
      </>
    );
  }
  return (
    <State tone={IMPACT_TONES[impact]}>
      {impact === "none" ? INCIDENT_WORDS[status] : IMPACT_WORDS[impact]}
    </State>
  );
}

/** Status of a maintenance. */
export function MaintenanceState({ maintenance }: { maintenance: Pick<Maintenance, "status"> }) {
  return <State tone={phaseTone(maintenance)}>{MAINTENANCE_WORDS[maintenance.status]}</State>;
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

/** Impact of an incident that is over. */
const PAST_IMPACTS: Record<Impact, string> = {
  none: "had no impact",
  minor: "was minor",
  major: "was major",
  critical: "was critical",
};

/** Returns status and impact of an incident: "Identified, minor impact", "Resolved, was critical". */
export function incidentWords({ status, impact }: Pick<Incident, "status" | "impact">): string {
  const severity =
    status === "resolved" ? PAST_IMPACTS[impact] : IMPACT_WORDS[impact].toLowerCase();
  return `${INCIDENT_WORDS[status]}, ${severity}`;
}
