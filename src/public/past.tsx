import { PAST_DAYS } from "../features/status";
import { type Chapter, Chapters } from "./entries";
import type { PageContext } from "./page-document";

/** What is past, as it is told at the end of a status page. */
export function Past({
  chapters,
  context,
}: {
  chapters: readonly Chapter[];
  context: PageContext;
}) {
  const html = context.renderPart("past", chapters, () => (
    <>
      <h2 class="section-title" id="past">
        The last {PAST_DAYS} days
      </h2>
      {chapters.length === 0 ? <p class="muted">Nothing else to report.</p> : null}
      <Chapters chapters={chapters} topHeading={3} context={context} />
      <p class="more">
        <a href={context.paths.history}>Earlier history</a>
      </p>
    </>
  ));
  return <section aria-labelledby="past" dangerouslySetInnerHTML={{ __html: html }} />;
}
