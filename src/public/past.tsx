import { PAST_DAYS } from "../features/status";
import { type DaySection, Chapters } from "./entries";
import type { PageContext } from "./page-document";

/** Past entries at the end of a status page. */
export function Past({
  sections,
  context,
}: {
  sections: readonly DaySection[];
  context: PageContext;
}) {
  const html = context.renderPart("past", sections, () => (
    <>
      <h2 class="section-title" id="past">
        The last {PAST_DAYS} days
      </h2>
      {sections.length === 0 ? <p class="muted">Nothing else to report.</p> : null}
      <Chapters sections={sections} topHeading={3} context={context} />
      <p class="more">
        <a href={context.paths.history}>Earlier history</a>
      </p>
    </>
  ));
  return <section aria-labelledby="past" dangerouslySetInnerHTML={{ __html: html }} />;
}
