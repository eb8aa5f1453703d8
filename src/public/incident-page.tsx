import { STATUS_TONES } from "../base/status";
import type { Incident } from "../features/incidents/wire";
import type { StatusDocument } from "../features/status/model";
import type { HtmlDocument } from "../ui/documents";
import { State, STATUS_WORDS, StatusLabel } from "../ui/labels";
import { ClockTime } from "./page-times";
import { plainText } from "../base/markdown";
import { contextOf, type Rendering } from "./page-context";
import { renderPage } from "./page-document";
import { createTextBudget } from "./text-budget";
import { hasEnded, IncidentState } from "./state";
import { Text } from "./text";
import { ALL_UPDATES, Facts, PERMALINK_BYTES, type UpdatePart, Updates } from "./permalink-parts";
import { INCIDENT_WORDS, lasting } from "./words";

/**
 * Renders an incident with a part of its updates. The first part also shows its components and its
 * published post-mortem.
 */
export function renderIncidentPage(
  document: StatusDocument,
  incident: Incident,
  part: UpdatePart = ALL_UPDATES,
  rendering?: Rendering,
): HtmlDocument {
  const context = contextOf(document, rendering);
  const { times } = context;
  const pathOf = (before?: string) => context.paths.incident(incident.id, before);
  const budget = createTextBudget(PERMALINK_BYTES, context.renderText, 3);
  const isFirst = part.before === undefined;
  const { components, postmortem, started_at: from, resolved_at: to, updates } = incident;
  return renderPage({
    context,
    title: incident.name,
    path: pathOf(part.before),
    description: plainText(updates[0]?.body ?? "", 200),
    children: (
      <article>
        <header class="title">
          <h1>{incident.name}</h1>
          <IncidentState incident={incident} />
        </header>
        <Facts
          items={[
            { label: "Status", value: to === null ? INCIDENT_WORDS[incident.status] : null },
            { label: "Started", value: <ClockTime at={from} times={times} /> },
            {
              label: "Resolved",
              value:
                to === null ? null : (
                  <>
                    <ClockTime at={to} times={times} /> (after {lasting(from, to)})
                  </>
                ),
            },
          ]}
        />
        {isFirst && components.length > 0 ? (
          <section aria-labelledby="affected">
            <h2 class="section-title" id="affected">
              Affected components
            </h2>
            <ul class="card">
              {components.map(({ id, name, status }) => (
                <li class="row" key={id}>
                  <div class="row-text">{name}</div>
                  {hasEnded(status, to === null) ? (
                    <State tone={status === "operational" ? "none" : STATUS_TONES[status]}>
                      {status === "operational" ? "Ended" : `${STATUS_WORDS[status]}, ended`}
                    </State>
                  ) : (
                    <StatusLabel status={status} />
                  )}
                </li>
              ))}
            </ul>
          </section>
        ) : null}
        {isFirst && postmortem?.published_at ? (
          <section aria-labelledby="postmortem">
            <h2 class="section-title" id="postmortem">
              Post-mortem
            </h2>
            <div class="card story">
              <Text text={budget.force(postmortem)} href={pathOf()} />
              <p class="muted">
                Published <ClockTime at={postmortem.published_at} times={times} />
              </p>
            </div>
          </section>
        ) : null}
        <Updates updates={updates} part={part} context={context} budget={budget} pathOf={pathOf} />
      </article>
    ),
  });
}
