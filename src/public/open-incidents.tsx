import { IMPACT_TONES, INCIDENT_STATUSES, STATUS_TONES, TONES } from "../base/status";
import type { Incident } from "../features/incidents/wire";
import type { Snapshot } from "../features/status/snapshot";
import { plural } from "../base/text";
import { Icon } from "../ui/icons";
import { Shape, STATUS_WORDS } from "../ui/labels";
import { ClockTime } from "./page-times";
import type { PageContext } from "./page-context";
import { hasEnded } from "./state";
import type { TextBudget } from "./text-budget";
import { Affects, moreThan, Text } from "./text";
import { factsOfUpdates, newestOf, UpdateList } from "./update-list";
import { IMPACT_WORDS, INCIDENT_WORDS } from "./words";

/** Maximum number of open incidents shown in full. */
const FULL_SHOWN = 3;
/** Maximum number of further open incidents shown as one line. */
const LINES_SHOWN = 10;
const INCIDENT_NAMES_SHOWN = 8;

interface OpenIncidentsProps {
  snapshot: Snapshot;
  context: PageContext;
  budget: TextBudget;
}

/** Open incidents, worst first: some in full, some as one line, and the number of the others. */
export function OpenIncidents({ snapshot, context, budget }: OpenIncidentsProps) {
  const count = snapshot.openIncidentCount;
  const incidents = worstFirst(snapshot.document.incidents);
  if (incidents.length === 0) return <section id="open" />;
  const lines = incidents.slice(FULL_SHOWN, FULL_SHOWN + LINES_SHOWN);
  const others = count - Math.min(incidents.length, FULL_SHOWN + LINES_SHOWN);
  return (
    <section id="open" aria-labelledby="open-title">
      <div class="section-head">
        <h2 id="open-title">Open incidents</h2>
        {count > 1 ? <span>{plural(count, "incident")}</span> : null}
      </div>
      {listedInFull(snapshot).map((incident) => (
        <OpenIncident key={incident.id} incident={incident} context={context} budget={budget} />
      ))}
      {lines.length === 0 ? null : (
        <ul class="card">
          {lines.map((incident) => (
            <IncidentLine key={incident.id} incident={incident} context={context} />
          ))}
        </ul>
      )}
      {others > 0 ? (
        <p class="more">
          <a href={context.paths.open()}>{others} more open incidents</a>
        </p>
      ) : null}
    </section>
  );
}

/** Returns the incidents that the page shows in full, worst first. */
export function listedInFull({ document }: Snapshot): Incident[] {
  return worstFirst(document.incidents).slice(0, FULL_SHOWN);
}

/** Sorts incidents by impact; those of one impact stay in their order, newest first. */
function worstFirst(incidents: readonly Incident[]): Incident[] {
  const severityOf = ({ impact }: Incident) => TONES.indexOf(IMPACT_TONES[impact]);
  return incidents.toSorted((a, b) => severityOf(b) - severityOf(a));
}

function OpenIncident(props: { incident: Incident; context: PageContext; budget: TextBudget }) {
  const { incident, context, budget } = props;
  const { paths, times } = context;
  const href = paths.incident(incident.id);
  const { id, name, status, impact, started_at, components, updates, truncated } = incident;
  const named = components.slice(0, INCIDENT_NAMES_SHOWN);
  const shown = newestOf(updates, budget);
  const [newest, ...earlier] = shown;
  const isMore = updates.length > shown.length;
  const tone = IMPACT_TONES[impact];
  // Only the shown components are facts: an incident may have hundreds.
  const facts = [name, status, impact, started_at, named, components.length, isMore, truncated];
  const html = context.renderPart(id, [facts, factsOfUpdates(shown, INCIDENT_NAMES_SHOWN)], () => (
    <>
      <div class="story-head">
        <h3>
          <a href={href}>{name}</a>
        </h3>
        <span class={`chip t-${tone}`}>
          <Shape tone={tone} />
          {IMPACT_WORDS[impact]}
        </span>
      </div>
      <p class="meta">
        Began <ClockTime at={started_at} hasAge times={times} />
      </p>
      <Phases status={status} />
      {newest ? (
        <div class="newest" id={newest.update.id}>
          <Text text={newest.text} href={`${href}#${newest.update.id}`} />
          <p class="meta">
            <ClockTime at={newest.update.display_at} hasAge times={times} />
          </p>
        </div>
      ) : null}
      <AffectedChips
        components={named}
        more={moreThan(components.length, INCIDENT_NAMES_SHOWN, truncated).trim()}
        isOpen
      />
      {earlier.length > 0 ? (
        <details class="fold">
          <summary>
            <Icon name="chevron-right" />
            {plural(earlier.length, "earlier update")}
          </summary>
          <UpdateList
            shown={earlier}
            times={times}
            named={INCIDENT_NAMES_SHOWN}
            isTruncated={truncated}
            href={href}
          />
        </details>
      ) : null}
      {isMore ? (
        <p class="more">
          <a href={href}>All updates</a>
        </p>
      ) : null}
    </>
  ));
  return (
    <article
      class={`card story t-${tone}`}
      // The refresh of an open page identifies the incident by this id, since names can be equal.
      id={id}
      dangerouslySetInnerHTML={{ __html: html }}
    />
  );
}

/** The four phases of an incident, with the current one marked. */
function Phases({ status }: { status: Incident["status"] }) {
  const current = INCIDENT_STATUSES.indexOf(status);
  return (
    <ol class="phases" aria-label="Phases">
      {INCIDENT_STATUSES.map((phase, index) => (
        <li
          class={index < current ? "done" : index === current ? "now" : undefined}
          aria-current={index === current ? "step" : undefined}
        >
          {INCIDENT_WORDS[phase]}
        </li>
      ))}
    </ol>
  );
}

interface AffectedChipsProps {
  components: Incident["components"];
  /** Words after the last component, such as "and 3 more". */
  more: string;
  /** True while the incident is open. */
  isOpen: boolean;
}

/** Components of an incident with the status that it gives them, or “ended” if it no longer gives one. */
function AffectedChips({ components, more, isOpen }: AffectedChipsProps) {
  if (components.length === 0) return null;
  return (
    <ul class="chips" aria-label="Affected components">
      {components.map(({ id, name, status }) => {
        const ended = hasEnded(status, isOpen);
        const tone = ended ? "none" : STATUS_TONES[status];
        return (
          <li key={id} class={`chip t-${tone}`}>
            <Shape tone={tone} />
            <bdi>{name}</bdi>
            {ended ? " · ended" : <span class="unseen">: {STATUS_WORDS[status]}</span>}
          </li>
        );
      })}
      {more === "" ? null : <li class="muted">{more}</li>}
    </ul>
  );
}

function IncidentLine({ incident, context }: { incident: Incident; context: PageContext }) {
  const { id, name, status, impact, started_at, components, truncated } = incident;
  return (
    <li class="line">
      <Shape tone={IMPACT_TONES[impact]} />
      <div>
        <h3>
          <a href={context.paths.incident(id)}>{name}</a>
        </h3>
        <p class="meta">
          <span class="unseen">{IMPACT_WORDS[impact]}, </span>
          {INCIDENT_WORDS[status]} · since <ClockTime at={started_at} times={context.times} />
          <Affects components={components} max={2} isTruncated={truncated} />
        </p>
      </div>
    </li>
  );
}
