import type { StatusDocument } from "../features/status/model";
import { plural } from "../base/text";
import type { HtmlDocument } from "../ui/documents";
import { DaySections, groupByDay } from "./entries";
import type { EntriesPart } from "./history-page";
import { contextOf, type Rendering } from "./page-context";
import { renderPage } from "./page-document";

/** Number of incidents of one part of the list. */
export const OPEN_SHOWN = 25;

/** Renders one part of the list of all open incidents, newest start first. */
export function renderOpenPage(
  document: StatusDocument,
  count: number,
  { entries, before, next }: EntriesPart,
  rendering?: Rendering,
): HtmlDocument {
  const context = contextOf(document, rendering);
  const { paths } = context;
  return renderPage({
    context,
    title: "Open incidents",
    path: paths.open(before),
    children: (
      <>
        <header class="title">
          <h1>Open incidents</h1>
          {count > 0 ? <span class="muted">{plural(count, "incident")}</span> : null}
        </header>
        {entries.length === 0 ? (
          <p class="card empty">No incidents are open{before ? " that began earlier" : ""}.</p>
        ) : (
          <DaySections sections={groupByDay(entries, context.times)} context={context} hasYears />
        )}
        {next || before ? (
          <nav class="months" aria-label="Parts of the list">
            {before ? <a href={paths.open()}>← Newest</a> : <span />}
            {next ? <a href={paths.open(next)}>Earlier →</a> : null}
          </nav>
        ) : null}
      </>
    ),
  });
}
