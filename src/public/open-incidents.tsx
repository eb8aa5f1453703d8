import type { Incident } from "../features/incidents";
import { ClockTime } from "./clock-time";
import type { PageContext } from "./page-document";
import { IncidentState } from "./state";
import type { TextBudget } from "./text-budget";
import { Names } from "./text";
import { newestOf, UpdateList } from "./update-list";

const NAMES_SHOWN = 8;

interface OpenIncidentsProps {
  incidents: readonly Incident[];
  context: PageContext;
  budget: TextBudget;
}

/** What is going on, each incident with what was told of it last, as far as there is room. */
export function OpenIncidents({ incidents, context, budget }: OpenIncidentsProps) {
  if (incidents.length === 0) return null;
  return (
    <section aria-labelledby="now">
      <h2 class="section-title" id="now">
        Happening now
      </h2>
      {incidents.map((incident) => (
        <OpenIncident key={incident.id} incident={incident} context={context} budget={budget} />
      ))}
    </section>
  );
}

function OpenIncident(props: { incident: Incident; context: PageContext; budget: TextBudget }) {
  const { incident, context, budget } = props;
  const { paths, times } = context;
  const href = paths.incident(incident.id);
  const { updates, ...facts } = incident;
  const told = newestOf(updates, budget);
  const isMore = updates.length > told.length;
  const html = context.renderPart(incident.id, [facts, told, isMore], () => (
    <>
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
      <UpdateList told={told} times={times} named={NAMES_SHOWN} href={href} />
      {isMore ? (
        <p class="more">
          <a href={href}>Earlier updates</a>
        </p>
      ) : null}
    </>
  ));
  return <article class="card story" dangerouslySetInnerHTML={{ __html: html }} />;
}
