import { type Entry, type StatusDocument } from "../features/status";
import type { HtmlDocument } from "../ui";
import { Chapters, groupByDay } from "./entries";
import type { Month } from "./month";
import { contextOf } from "./page-context";
import { renderPage } from "./page-document";

/** A part of what began in a month. */
export interface MonthPart {
  entries: readonly Entry[];
  /** The place in the month that it begins behind; undefined for its end. */
  before: string | undefined;
  /** The same of the part behind this one; undefined where this is the last. */
  next: string | undefined;
}

/** Renders one page of the entries that started in a UTC month, newest first. */
export function renderHistoryPage(
  document: StatusDocument,
  month: Month,
  { entries, before, next }: MonthPart,
): HtmlDocument {
  const context = contextOf(document);
  const { paths, times } = context;
  const title = times.month(month.name);
  return renderPage({
    context,
    title: `History, ${title}`,
    path: paths.month(month.name, before),
    children: (
      <>
        <header class="title">
          <h1>History, {title}</h1>
        </header>
        <nav class="months" aria-label="Months">
          {month.previous ? (
            <a rel="prev" href={paths.month(month.previous)}>
              ← {times.month(month.previous)}
            </a>
          ) : (
            <span />
          )}
          {month.next ? (
            <a rel="next" href={paths.month(month.next)}>
              {times.month(month.next)} →
            </a>
          ) : null}
        </nav>
        {entries.length === 0 ? (
          <p class="card empty">Nothing was reported in {title}.</p>
        ) : (
          <Chapters sections={groupByDay(entries)} topHeading={2} context={context} />
        )}
        {next || before ? (
          <nav class="months" aria-label={`Parts of ${title}`}>
            {before ? <a href={paths.month(month.name)}>← Latest of {title}</a> : <span />}
            {next ? <a href={paths.month(month.name, next)}>Earlier in {title} →</a> : null}
          </nav>
        ) : null}
      </>
    ),
  });
}
