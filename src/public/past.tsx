import { LRUCache } from "lru-cache";
import { renderToString } from "preact-render-to-string";
import { PAST_DAYS } from "../features/status";
import { type Chapter, Chapters } from "./entries";
import type { PageContext } from "./page-document";

/** Of so many pages what is past is kept: of a busy page some twenty kilobytes. */
const KEPT_MAX = 200;

interface PastProps {
  chapters: readonly Chapter[];
  context: PageContext;
}

/** Makes HTML of what is past: the inside of a section that is labelled by `past`. */
export type RenderPast = (past: PastProps) => string;

export const renderPast: RenderPast = (past) => renderToString(<Past {...past} />);

/** The same, made anew only where something of it has changed: most changes of a page are of what goes on. */
export function createKeptPast(): RenderPast {
  const kept = new LRUCache<string, { facts: string; html: string }>({ max: KEPT_MAX });
  return (past) => {
    const { page } = past.context;
    const facts = JSON.stringify([page.slug, page.locale, page.time_zone, past.chapters]);
    const known = kept.get(page.id);
    if (known?.facts === facts) return known.html;
    const html = renderPast(past);
    kept.set(page.id, { facts, html });
    return html;
  };
}

function Past({ chapters, context }: PastProps) {
  return (
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
  );
}
