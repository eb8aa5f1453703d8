import type { Incident } from "../../features/incidents/model";
import { DialogForm } from "../../ui/form";
import { type Detected, StillFailing } from "./detected-by";
import { pathsOfIncident } from "./incident-paths";

/** Asks before an incident is deleted, naming the data that is deleted. */
export function DeleteIncident({ title, view }: { title: string; view: Detected }) {
  const { incident, monitors } = view;
  const paths = pathsOfIncident(incident.id);
  return (
    <DialogForm
      title={title}
      action={paths.delete}
      button="Delete incident"
      isDanger
      cancelHref={paths.home}
    >
      <p>{consequences(incident)} This cannot be undone.</p>
      <StillFailing monitors={monitors.filter(({ endedAt }) => endedAt === null)} />
      {incident.draft || incident.status === "resolved" ? null : (
        <p>
          If the incident is over, resolve it instead: resolved incidents stay on the page as
          history.
        </p>
      )}
    </DialogForm>
  );
}

function consequences({ draft, status }: Incident): string {
  if (draft) return "The draft is deleted. No notifications were sent for it.";
  const gone = "The incident is removed from the page, the feeds and the API.";
  return status === "resolved"
    ? `${gone} The history of the components keeps its statuses.`
    : `${gone} The component statuses that it set end now. The history of the components keeps them.`;
}
