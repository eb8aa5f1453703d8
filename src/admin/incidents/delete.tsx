import type { Incident } from "../../features/incidents";
import { DialogForm } from "../../ui";
import { pathsOfIncident } from "./incident-paths";

/** Asks before an incident is deleted, naming the data that is deleted. */
export function DeleteIncident({ title, incident }: { title: string; incident: Incident }) {
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
  if (draft) return "The draft is removed. No notifications were sent.";
  const gone = "The incident disappears from the page, the feeds and the API.";
  return status === "resolved"
    ? `${gone} Past statuses stay in the history of the components.`
    : `${gone} Statuses set by the incident end now, and stay in the history of the components.`;
}
