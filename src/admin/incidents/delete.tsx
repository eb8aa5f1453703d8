import type { Incident } from "../../features/incidents";
import { DialogForm } from "../../ui";
import { pathsOfIncident } from "./incident-paths";

/** Asks before an incident is deleted, saying what goes with it. */
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
        <p>If it is over, resolve it instead: it then stays on the page as history.</p>
      )}
    </DialogForm>
  );
}

function consequences({ draft, status }: Incident): string {
  if (draft) return "The draft is removed. Nobody was told of it.";
  const gone = "It disappears from the page, its feeds and the API.";
  return status === "resolved"
    ? `${gone} What it marked stays in the history of its components.`
    : `${gone} What it marks ends now, and stays in the history of its components.`;
}
