import { plainText } from "../base/markdown";
import type { Incident } from "../features/incidents/wire";
import type { Maintenance } from "../features/maintenance/wire";
import type { HistoryEntry } from "../features/status/entries";
import type { StatusDocument } from "../features/status/wire";
import { State, StatusLabel } from "../ui/blocks";
import type { HtmlDocument } from "../ui/documents";
import type { PageWords } from "../ui/words";
import {
  ALL_UPDATES,
  DaySections,
  Facts,
  groupByDay,
  PERMALINK_BYTES,
  type UpdatePart,
  Updates,
} from "./entries";
import { contextOf, type Month, type Rendering } from "./page-context";
import { renderPage } from "./page-document";
import { ClockTime } from "./page-times";
import { hasEnded, IncidentState, MaintenanceState } from "./state";
import { createTextBudget, Names, Text } from "./text";

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
  const { times, words } = context;
  const { say } = words;
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
          <h1 dir="auto" lang={words.langOf(incident)}>
            {incident.name}
          </h1>
          <p>
            <IncidentState incident={incident} />
          </p>
        </header>
        <Facts
          items={[
            {
              label: say("entry.status"),
              value: to === null ? say(`incident.${incident.status}`) : null,
            },
            { label: say("entry.started"), value: <ClockTime at={from} times={times} /> },
            {
              label: say("entry.resolved"),
              value:
                to === null
                  ? null
                  : say("entry.resolved_after", {
                      time: <ClockTime at={to} times={times} />,
                      duration: words.lasting(from, to),
                    }),
            },
          ]}
        />
        {isFirst && components.length > 0 ? (
          <section aria-labelledby="affected">
            <h2 class="section-title" id="affected">
              {say(to === null ? "affected.title" : "affected.title_ended")}
            </h2>
            <ul class="card">
              {components.map(({ id, name, status }) => (
                <li class="row" key={id}>
                  <div class="row-text">
                    <bdi>{name}</bdi>
                    {to === null || status === "operational" ? null : (
                      <p class="muted">{say(`status.${status}`)}</p>
                    )}
                  </div>
                  {hasEnded(status, to === null) ? (
                    <State tone="ok">{say("affected.ended")}</State>
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
              {say("entry.postmortem")}
            </h2>
            <div class="card story">
              <Text text={budget.force(postmortem)} href={pathOf()} />
              <p class="muted">
                {say("entry.published", {
                  time: <ClockTime at={postmortem.published_at} times={times} />,
                })}
              </p>
            </div>
          </section>
        ) : null}
        <Updates
          updates={updates}
          impact={incident.impact}
          part={part}
          context={context}
          budget={budget}
          pathOf={pathOf}
        />
      </article>
    ),
  });
}

/** Renders a maintenance with a part of its updates. */
export function renderMaintenancePage(
  document: StatusDocument,
  maintenance: Maintenance,
  part: UpdatePart = ALL_UPDATES,
  rendering?: Rendering,
): HtmlDocument {
  const context = contextOf(document, rendering);
  const pathOf = (before?: string) => context.paths.maintenance(maintenance.id, before);
  const budget = createTextBudget(PERMALINK_BYTES, context.renderText, 3);
  const { page, paths, times } = context;
  const { say } = context.words;
  const { components, started_at: startedAt, completed_at: completedAt } = maintenance;
  const { scheduled_for: from, scheduled_until: until, updates } = maintenance;
  return renderPage({
    context,
    title: maintenance.name,
    path: pathOf(part.before),
    description: plainText(updates[0]?.body ?? "", 200),
    children: (
      <article>
        <header class="title">
          <h1 dir="auto">{maintenance.name}</h1>
          <MaintenanceState maintenance={maintenance} />
        </header>
        <Facts
          items={[
            {
              label: say("entry.planned"),
              value: <ClockTime at={from} until={until} times={times} />,
            },
            {
              label: say("entry.started"),
              value: startedAt === null ? null : <ClockTime at={startedAt} times={times} />,
            },
            {
              label: say("entry.ended"),
              value: completedAt === null ? null : <ClockTime at={completedAt} times={times} />,
            },
            {
              label: say("affected.title"),
              value:
                components.length === 0 ? null : (
                  <Names
                    names={components.map(({ name }) => name)}
                    max={Number.POSITIVE_INFINITY}
                  />
                ),
            },
          ]}
        />
        {page.visibility === "public" ? (
          <p class="more">
            <a href={paths.calendar}>{say("planned.calendar")}</a>
          </p>
        ) : null}
        <Updates updates={updates} part={part} context={context} budget={budget} pathOf={pathOf} />
      </article>
    ),
  });
}

/** Part of a list of entries. */
export interface EntriesPart {
  entries: readonly HistoryEntry[];
  /** Cursor that the entries follow; undefined for the newest entries. */
  before: string | undefined;
  /** Cursor of the next part; undefined for the last part. */
  next: string | undefined;
}

/** Renders one page of the entries that started in a month, newest first. */
export function renderHistoryPage(
  document: StatusDocument,
  month: Month & { hasReport?: boolean },
  { entries, before, next }: EntriesPart,
  rendering?: Rendering,
): HtmlDocument {
  const context = contextOf(document, rendering);
  const { paths, times, words } = context;
  const { t, say } = words;
  const title = times.month(month.name);
  const [back, on] = arrowsOf(words);
  return renderPage({
    context,
    title: t("history.title", { month: title }),
    path: paths.month(month.name, before),
    current: "history",
    children: (
      <>
        <header class="title">
          <h1>{say("history.title", { month: title })}</h1>
        </header>
        <nav class="months" aria-label={t("history.months")}>
          {month.previous ? (
            <a rel="prev" href={paths.month(month.previous)}>
              {back} {times.month(month.previous)}
            </a>
          ) : (
            <span />
          )}
          {month.next ? (
            <a rel="next" href={paths.month(month.next)}>
              {times.month(month.next)} {on}
            </a>
          ) : null}
        </nav>
        {month.hasReport ? (
          <p class="more">
            <a href={paths.report(month.name)}>{say("report.title", { month: title })}</a>
          </p>
        ) : null}
        {entries.length === 0 ? (
          <p class="card empty">{say("history.none", { month: title })}</p>
        ) : (
          <DaySections sections={groupByDay(entries, times)} context={context} />
        )}
        {next || before ? (
          <nav class="months" aria-label={t("history.parts", { month: title })}>
            {before ? (
              <a href={paths.month(month.name)}>
                {back} {say("history.latest", { month: title })}
              </a>
            ) : (
              <span />
            )}
            {next ? (
              <a href={paths.month(month.name, next)}>
                {say("history.earlier", { month: title })} {on}
              </a>
            ) : null}
          </nav>
        ) : null}
      </>
    ),
  });
}

/** Returns the arrows to the page before and to the next one, in the direction of the words. */
export function arrowsOf({ dir }: Pick<PageWords, "dir">): readonly [back: string, on: string] {
  return dir === "rtl" ? ["→", "←"] : ["←", "→"];
}
