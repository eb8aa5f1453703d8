import type { Incident } from "../features/incidents";
import type { StatusDocument } from "../features/status";
import { type HtmlDocument, StatusLabel } from "../ui";
import { ClockTime } from "./clock-time";
import { Facts } from "./facts";
import { plainText } from "./markdown";
import { contextOf, renderPage } from "./page-document";
import { IncidentState } from "./state";
import { MarkdownText } from "./text";
import { UpdateList } from "./update-list";
import { INCIDENT_WORDS, lasting } from "./words";

/** One incident with all that was told of it, and its post-mortem where that is published. */
export function renderIncidentPage(document: StatusDocument, incident: Incident): HtmlDocument {
  const context = contextOf(document);
  const { times } = context;
  const { components, postmortem, started_at: from, resolved_at: to, updates } = incident;
  return renderPage({
    context,
    title: incident.name,
    path: context.paths.incident(incident.id),
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
            { label: "Began", value: <ClockTime at={from} times={times} /> },
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
        {components.length > 0 ? (
          <section aria-labelledby="affected">
            <h2 class="section-title" id="affected">
              Affected components
            </h2>
            <ul class="card">
              {components.map(({ id, name, status }) => (
                <li class="row" key={id}>
                  <div class="row-text">{name}</div>
                  <StatusLabel status={status} />
                </li>
              ))}
            </ul>
          </section>
        ) : null}
        {postmortem?.published_at ? (
          <section aria-labelledby="postmortem">
            <h2 class="section-title" id="postmortem">
              Post-mortem
            </h2>
            <div class="card story">
              <MarkdownText source={postmortem.body} topHeading={3} />
              <p class="muted">
                Published <ClockTime at={postmortem.published_at} times={times} />
              </p>
            </div>
          </section>
        ) : null}
        <section aria-labelledby="updates">
          <h2 class="section-title" id="updates">
            Updates
          </h2>
          <div class="card story">
            <UpdateList updates={updates} times={times} topHeading={3} />
          </div>
        </section>
      </article>
    ),
  });
}
