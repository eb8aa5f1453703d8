/* Words and marks for the states of incidents and maintenances. */
import {
  type ComponentStatus,
  type Impact,
  IMPACT_TONES,
  IMPACTS,
  INCIDENT_STATUSES,
  MAINTENANCE_STATUSES,
  phaseTone,
} from "../base/status";
import type { Incident } from "../features/incidents/wire";
import type { Maintenance } from "../features/maintenance/wire";
import { State } from "../ui/blocks";
import { englishWords, useWords } from "../ui/words";

/** Impact of an open incident, or its status without one; of a resolved one, that it is and how bad it was. */
export function IncidentState({ incident }: { incident: Pick<Incident, "status" | "impact"> }) {
  const { say } = useWords();
  const { status, impact } = incident;
  if (status === "resolved") {
    return (
      <>
        <State tone={phaseTone(incident)}>{say("incident.resolved")}</State>{" "}
        <span class="muted">{say(`impact.was.${impact}`)}</span>
      </>
    );
  }
  return (
    <State tone={IMPACT_TONES[impact]}>
      {say(impact === "none" ? `incident.${status}` : `impact.${impact}`)}
    </State>
  );
}

/** Status of a maintenance. */
export function MaintenanceState({ maintenance }: { maintenance: Pick<Maintenance, "status"> }) {
  const { say } = useWords();
  return <State tone={phaseTone(maintenance)}>{say(`maintenance.${maintenance.status}`)}</State>;
}

/**
 * Returns true if an incident no longer gives a component a status: it is resolved, or its newest update of
 * the component ended it.
 */
export function hasEnded(status: ComponentStatus, isOpen: boolean): boolean {
  return !isOpen || status === "operational";
}

/* English words, for the dashboard. */
export const INCIDENT_WORDS = englishWords("incident", INCIDENT_STATUSES);
export const MAINTENANCE_WORDS = englishWords("maintenance", MAINTENANCE_STATUSES);
export const IMPACT_WORDS = englishWords("impact", IMPACTS);
const PAST_IMPACTS = englishWords("impact.was", IMPACTS);

/** Returns status and impact of an incident in English: "Identified, minor impact", "Resolved, was critical". */
export function incidentWords({ status, impact }: Pick<Incident, "status" | "impact">): string {
  const severity: Record<Impact, string> = status === "resolved" ? PAST_IMPACTS : IMPACT_WORDS;
  return `${INCIDENT_WORDS[status]}, ${severity[impact].toLowerCase()}`;
}
