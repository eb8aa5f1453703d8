import type { Incident } from "../../features/incidents";
import { toIso } from "../../kernel/time";
import { IncidentState } from "../../public/state";
import { IMPACT_WORDS, INCIDENT_WORDS, lasting } from "../../public/words";
import { timeFacts, TimelineFacts } from "../timeline/timeline-facts";
import { StatusList } from "../timeline/update-timeline";
import type { IncidentView } from "./incident-view";

const SOURCES: Record<Incident["source"], string> = {
  api: "The API",
  dashboard: "The dashboard",
  monitor: "A monitor",
  import: "An import",
};

/** Properties of an incident. */
export function IncidentFacts({ view, now }: { view: IncidentView; now: number }) {
  const { incident, page } = view;
  const { components, external_ref: externalRef, resolved_at: resolvedAt } = incident;
  const times = {
    Started: incident.started_at,
    Identified: incident.identified_at,
    Monitoring: incident.monitoring_at,
    Resolved: resolvedAt,
  };
  const facts = [
    { label: "Status", value: INCIDENT_WORDS[incident.status] },
    { label: "Impact", value: <Impact incident={incident} /> },
    ...timeFacts(times, now),
    {
      label: resolvedAt === null ? "Duration so far" : "Duration",
      value: lasting(incident.started_at, resolvedAt ?? toIso(now)),
    },
    ...(components.length > 0
      ? [{ label: "Components", value: <StatusList components={components} /> }]
      : []),
    { label: "Reported by", value: SOURCES[incident.source] },
    ...(externalRef === null
      ? []
      : [{ label: "External reference", value: <code>{externalRef}</code> }]),
  ];
  return <TimelineFacts facts={facts} page={page} id={incident.id} />;
}

function Impact({ incident }: { incident: Incident }) {
  const { status, impact, impact_override: override } = incident;
  return (
    <>
      {status === "resolved" || impact === "none" ? (
        IMPACT_WORDS[impact]
      ) : (
        <IncidentState incident={incident} />
      )}
      {override === null ? null : <span class="quiet-text"> (set manually)</span>}
    </>
  );
}
