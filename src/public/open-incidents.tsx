import type { Incident } from "../features/incidents";
import { ClockTime } from "./page-times";
import type { PageContext } from "./page-context";
import { IncidentState } from "./state";
import type { TextBudget } from "./text-budget";
import { Affects } from "./text";
import { factsOfUpdates, newestOf, UpdateList } from "./update-list";

const NAMES_SHOWN = 8;

interface OpenIncidentsProps {
  incidents: readonly Incident[];
  context: PageContext;
  budget: TextBudget;
}

/** Open incidents with their newest updates, as far as the text budget allows. */
export function OpenIncidents({ incidents, context, budget }: OpenIncidentsProps) {
  if (incidents.length === 0) return null;
  return (
    <section aria-labelledby="now">
      <h2 class="section-title" id="now">
        Open incidents
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
  const { id, name, status, impact, started_at, components, updates, truncated } = incident;
  const names = components.slice(0, NAMES_SHOWN).map((component) => component.name);
  const shown = newestOf(updates, budget);
  const isMore = updates.length > shown.length;
  // Only the shown names are facts: an incident may have hundreds of components.
  const facts = [name, status, impact, started_at, names, components.length, isMore, truncated];
  const html = context.renderPart(id, [facts, factsOfUpdates(shown, NAMES_SHOWN)], () => (
    <>
      <div class="story-head">
        <h3>
          <a href={href}>{name}</a>
        </h3>
        <IncidentState incident={incident} />
      </div>
      <p class="muted">
        Since <ClockTime at={started_at} times={times} />
        <Affects components={components} max={NAMES_SHOWN} isTruncated={truncated} />
      </p>
      <UpdateList
        shown={shown}
        times={times}
        named={NAMES_SHOWN}
        isTruncated={truncated}
        href={href}
      />
      {isMore ? (
        <p class="more">
          <a href={href}>Earlier updates</a>
        </p>
      ) : null}
    </>
  ));
  return <article class="card story" dangerouslySetInnerHTML={{ __html: html }} />;
}
