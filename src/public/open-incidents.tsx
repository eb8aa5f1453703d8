import type { Incident } from "../features/incidents";
import { ClockTime } from "./clock-time";
import type { PageContext } from "./page-document";
import { IncidentState } from "./state";
import { Names } from "./text";
import { UpdateList } from "./update-list";

/** The page shows these; all of them are at the incident's own. */
const UPDATES_SHOWN = 5;
const NAMES_SHOWN = 8;

/** What is going on, each incident with what was told of it last. */
export function OpenIncidents(props: { incidents: readonly Incident[]; context: PageContext }) {
  const { incidents, context } = props;
  if (incidents.length === 0) return null;
  return (
    <section aria-labelledby="now">
      <h2 class="section-title" id="now">
        Happening now
      </h2>
      {incidents.map((incident) => (
        <OpenIncident key={incident.id} incident={incident} context={context} />
      ))}
    </section>
  );
}

function OpenIncident({ incident, context }: { incident: Incident; context: PageContext }) {
  const { paths, times } = context;
  const href = paths.incident(incident.id);
  const shown = incident.updates.slice(0, UPDATES_SHOWN);
  return (
    <article class="card story">
      <div class="story-head">
        <h3>
          <a href={href}>{incident.name}</a>
        </h3>
        <IncidentState incident={incident} />
      </div>
      <p class="muted">
        Since <ClockTime at={incident.started_at} times={times} />
        {incident.components.length > 0 ? (
          <>
            {" · affects "}
            <Names names={incident.components.map(({ name }) => name)} most={NAMES_SHOWN} />
          </>
        ) : null}
      </p>
      <UpdateList updates={shown} times={times} topHeading={4} />
      {incident.updates.length > shown.length ? (
        <p class="more">
          <a href={href}>Earlier updates</a>
        </p>
      ) : null}
    </article>
  );
}
