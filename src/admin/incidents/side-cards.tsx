import { STATUS_TONES } from "../../domain/tone";
import { STATUS_WORDS } from "../../ui/labels";
import { Affected } from "../timeline/affected";
import type { IncidentView } from "./incident-view";

/** Components that an incident names, with the statuses that it gives or gave them. */
export function Components({ view: { incident, components } }: { view: IncidentView }) {
  const isOver = incident.status === "resolved";
  const onPage = new Set(components.map(({ id }) => id));
  return (
    <Affected
      title={isOver ? "Affected (ended)" : "Affects"}
      components={incident.components.map(({ id, name, status }) => ({
        id,
        name,
        tone: isOver ? "ok" : STATUS_TONES[status],
        note: `${STATUS_WORDS[status]}${isOver ? ", ended" : ""}`,
        hasScreen: onPage.has(id),
      }))}
      none="No component. The incident changes no status."
    />
  );
}
