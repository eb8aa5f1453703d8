import type { HistoryEntry } from "../features/status/history";
import type { StatusDocument } from "../features/status/model";
import type { HtmlDocument } from "../ui/documents";
import { DaySections, groupByDay } from "./entries";
import type { Month } from "./month";
import { contextOf, type Rendering } from "./page-context";
import { renderPage } from "./page-document";

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
  month: Month,
  { entries, before, next }: EntriesPart,
  rendering?: Rendering,
): HtmlDocument {
  const context = contextOf(document, rendering);
  const { paths, times } = context;
  const title = times.month(month.name);
  return renderPage({
    context,
    title: `History, ${title}`,
    path: paths.month(month.name, before),
    current: "history",
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
          <p class="card empty">No incidents or maintenance in {title}.</p>
        ) : (
          <DaySections sections={groupByDay(entries, times)} context={context} />
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
