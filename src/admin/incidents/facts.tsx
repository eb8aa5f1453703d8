import type { Incident } from "../../features/incidents/model";
import { IMPACT_WORDS, lasting } from "../../public/words";
import { DayTime } from "../../ui/relative-time";
import { TimelineFacts } from "../timeline/timeline-facts";
import type { IncidentView } from "./incident-view";

const SOURCES: Record<Incident["source"], string> = {
  api: "The API",
  dashboard: "The dashboard",
  monitor: "A monitor",
  import: "An import",
};

interface IncidentFactsProps {
  view: IncidentView;
  editPath: string | undefined;
  now: number;
}

/** Properties of an incident. */
export function IncidentFacts({ view, editPath, now }: IncidentFactsProps) {
  const { incident, monitors } = view;
  const { external_ref: externalRef, started_at: startedAt, resolved_at: resolvedAt } = incident;
  const after = (label: string, at: string | null) =>
    at === null ? [] : [{ label, value: `After ${lasting(startedAt, at)}` }];
  const { impact, impact_override: override } = incident;
  const facts = [
    {
      label: "Impact",
      value: `${IMPACT_WORDS[impact]}, ${override === null ? "from its components" : "set manually"}`,
    },
    { label: "Started", value: <DayTime at={startedAt} now={now} /> },
    ...after("Identified", incident.identified_at),
    ...after("Monitoring", incident.monitoring_at),
    ...after("Resolved", resolvedAt),
    {
      label: "Reported by",
      value:
        monitors.length > 1 && incident.source === "monitor"
          ? "Monitors"
          : SOURCES[incident.source],
    },
    ...(externalRef === null
      ? []
      : [{ label: "External reference", value: <code>{externalRef}</code> }]),
  ];
  return <TimelineFacts facts={facts} id={incident.id} editPath={editPath} />;
}
