import type { Maintenance } from "../features/maintenance";
import type { Incident } from "../features/incidents";
import { IndicatorShape } from "../ui";
import { IMPACT_WORDS, INCIDENT_WORDS, MAINTENANCE_WORDS } from "./words";

/** Impact of an open incident, its status if it has no impact, or its resolution. */
export function IncidentState({ incident }: { incident: Pick<Incident, "status" | "impact"> }) {
  const { status, impact } = incident;
  if (status === "resolved") return <State indicator="none" words={INCIDENT_WORDS.resolved} />;
  // Without an impact, the status has no shape.
  if (impact === "none") return <span class="state is-quiet">{INCIDENT_WORDS[status]}</span>;
  return <State indicator={impact} words={IMPACT_WORDS[impact]} />;
}

/** Status of a maintenance. */
export function MaintenanceState({ maintenance }: { maintenance: Pick<Maintenance, "status"> }) {
  const { status } = maintenance;
  const words = MAINTENANCE_WORDS[status];
  if (status === "completed") return <State indicator="none" words={words} />;
  if (status === "cancelled") return <span class="state is-quiet">{words}</span>;
  return <State indicator="maintenance" words={words} />;
}

interface StateProps {
  indicator: Parameters<typeof IndicatorShape>[0]["indicator"];
  words: string;
}

function State({ indicator, words }: StateProps) {
  return (
    <span class={`state is-${indicator}`}>
      <IndicatorShape indicator={indicator} />
      {words}
    </span>
  );
}
