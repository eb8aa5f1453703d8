import type { Author } from "../../events";
import type { Incident, IncidentUpdate } from "../../features/incidents";
import { MINUTE_MS } from "../../kernel/time";
import { MarkdownText } from "../../public/text";
import { INCIDENT_WORDS } from "../../public/words";
import { RelativeTime, StatusLabel, Timeline } from "../../ui";
import { pathsOfIncident } from "./incident-paths";

interface UpdateTimelineProps {
  incident: Incident;
  /** Authors by update id. */
  authors: ReadonlyMap<string, Author>;
  mayEdit: boolean;
  /** Unix ms. */
  now: number;
}

/** Updates of an incident, newest first, with their authors if known. */
export function UpdateTimeline({ incident, authors, mayEdit, now }: UpdateTimelineProps) {
  const paths = pathsOfIncident(incident.id);
  return (
    <Timeline
      now={now}
      items={incident.updates.map((update) => ({
        title: INCIDENT_WORDS[update.status],
        at: update.display_at,
        ...(update.status === "resolved" ? { status: "operational" as const } : {}),
        body: (
          <>
            <MarkdownText source={update.body} topHeading={3} />
            <Named update={update} />
            <p class="muted">
              <Writing update={update} author={authors.get(update.id)} now={now} />
              {mayEdit ? (
                <>
                  {" "}
                  <a href={paths.update(update.id)}>
                    Edit
                    <span class="visually-hidden"> the update “{update.body.slice(0, 40)}”</span>
                  </a>
                </>
              ) : null}
            </p>
          </>
        ),
      }))}
    />
  );
}

function Named({ update: { components } }: { update: IncidentUpdate }) {
  if (components.length === 0) return null;
  return (
    <ul class="named">
      {components.map(({ id, name, new_status: status }) => (
        <li key={id}>
          <bdi>{name}</bdi> <StatusLabel status={status} />
        </li>
      ))}
    </ul>
  );
}

/** Author of an update, and the time of writing if it differs from the effective time. */
function Writing(props: { update: IncidentUpdate; author: Author | undefined; now: number }) {
  const { update, author, now } = props;
  const { created_at: createdAt, display_at: displayAt } = update;
  const isMoved = Math.abs(Date.parse(createdAt) - Date.parse(displayAt)) >= MINUTE_MS;
  if (!author && !isMoved) return null;
  return (
    <>
      Written
      {author ? ` by ${nameOf(author)}` : ""}
      {isMoved ? (
        <>
          {" "}
          <RelativeTime at={createdAt} now={now} />
        </>
      ) : null}
      .
    </>
  );
}

function nameOf({ kind, label }: Author): string {
  if (kind === "key") return `the API key “${label}”`;
  return kind === "cli" ? "the command line" : label;
}
