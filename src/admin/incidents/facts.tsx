import type { Incident } from "../../features/incidents";
import { IncidentState } from "../../public/state";
import { IMPACT_WORDS, INCIDENT_WORDS, lasting } from "../../public/words";
import { toIso } from "../../kernel/time";
import { Card, Facts, RelativeTime, StatusLabel } from "../../ui";
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
  const at = (iso: string) => <RelativeTime at={iso} now={now} />;
  return (
    <Card>
      <Facts
        items={[
          { label: "Status", value: INCIDENT_WORDS[incident.status] },
          { label: "Impact", value: <Impact incident={incident} /> },
          { label: "Started", value: at(incident.started_at) },
          ...timeFact("Identified", incident.identified_at, at),
          ...timeFact("Monitoring", incident.monitoring_at, at),
          ...timeFact("Resolved", incident.resolved_at, at),
          {
            label: incident.resolved_at === null ? "Has lasted" : "Lasted",
            value: lasting(incident.started_at, incident.resolved_at ?? toIso(now)),
          },
          ...(incident.components.length > 0
            ? [{ label: "Components", value: <Components incident={incident} /> }]
            : []),
          { label: "Page", value: page.name },
          { label: "Reported by", value: SOURCES[incident.source] },
          ...(incident.external_ref === null
            ? []
            : [{ label: "External reference", value: <code>{incident.external_ref}</code> }]),
          { label: "Id", value: <code>{incident.id}</code> },
        ]}
      />
    </Card>
  );
}

function timeFact(label: string, iso: string | null, show: (iso: string) => preact.JSX.Element) {
  return iso === null ? [] : [{ label, value: show(iso) }];
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
      {override === null ? null : <span class="quiet-text"> (set by hand)</span>}
    </>
  );
}

function Components({ incident: { components } }: { incident: Incident }) {
  return (
    <ul class="named">
      {components.map(({ id, name, status }) => (
        <li key={id}>
          <bdi>{name}</bdi> <StatusLabel status={status} />
        </li>
      ))}
    </ul>
  );
}
