import type { Incident } from "../features/incidents";
import type { Maintenance } from "../features/maintenance";
import type { StatusDocument } from "../features/status";
import type { HtmlDocument } from "../ui";
import { Chapters, chaptersOf, entriesOf } from "./entries";
import type { Month } from "./month";
import { contextOf, renderPage } from "./page-document";

/** What began in one UTC month. */
export function renderHistoryPage(
  document: StatusDocument,
  month: Month,
  happened: { incidents: readonly Incident[]; maintenance: readonly Maintenance[] },
): HtmlDocument {
  const context = contextOf(document);
  const { paths, times } = context;
  const entries = entriesOf(happened.incidents, happened.maintenance);
  const title = times.month(month.name);
  return renderPage({
    context,
    title: `History, ${title}`,
    path: paths.month(month.name),
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
          <Chapters chapters={chaptersOf(entries)} topHeading={2} context={context} />
        )}
      </>
    ),
  });
}
