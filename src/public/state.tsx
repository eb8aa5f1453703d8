/* Words and marks for the states of pages, incidents and maintenances. */
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
import type { StatusDocument } from "../features/status/wire";
import type { MessageKey } from "../languages/words";
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

/** Messages for the headlines of pages, by the sentences of the API. */
const HEADLINES: Readonly<Record<string, MessageKey>> = {
  "All Systems Operational": "headline.operational",
  "Service Under Maintenance": "headline.maintenance",
  "Partially Degraded Service": "headline.partly_degraded",
  "Degraded System Service": "headline.degraded",
  "Minor Service Outage": "headline.minor",
  "Partial System Outage": "headline.partial",
  "Major System Outage": "headline.major",
};

/** Returns the message for the headline of a page. */
export function headlineKey({
  status: { description, indicator },
  components,
}: Pick<StatusDocument, "status" | "components">): MessageKey {
  if (components.length === 0 && indicator === "none") return "headline.empty";
  const key = HEADLINES[description];
  if (key === undefined) throw new Error(`there is no message for ${description}`);
  return key;
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
