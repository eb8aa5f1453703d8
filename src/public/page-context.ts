import type { Tone } from "../domain/tone";
import { headlineText, type StatusDocument, toneOf } from "../features/status";
import { type RenderText, renderText as renderTextUncached } from "./markdown-cache";
import { type PagePaths, pathsOf } from "./page-paths";
import { createPageTimes, type PageTimes, type TimesOf } from "./page-times";
import { type RenderPart, renderPart as renderPartUncached } from "./part-cache";

/** Context of every document of a status page: the page, its headline and its paths. */
export interface PageContext {
  page: StatusDocument["page"];
  /** Headline of the page in sentence case, with its tone. */
  headline: string;
  tone: Tone;
  paths: PagePaths;
  times: PageTimes;
  /** Version of the content, from `versionOf`; undefined for a preview, which is not refreshed. */
  version: string | undefined;
  /** Renders Markdown as HTML. */
  renderText: RenderText;
  /**
   * Renders a part of this page, whose id is unique within the page. Its facts must include everything
   * that it uses of `page` and `headline`, but not the sources of `paths` and `times`.
   */
  renderPart: RenderPart;
}

/** Functions that render parts of a page, which may use a cache. */
export interface Rendering {
  renderText?: RenderText;
  renderPart?: RenderPart;
  timesOf?: TimesOf;
  /** Version of the content, with which the script refreshes the page. */
  version?: string;
}

/** Returns the context of a page. By default it renders without caches. */
export function contextOf(
  document: StatusDocument,
  {
    renderText = renderTextUncached,
    renderPart = renderPartUncached,
    timesOf = createPageTimes,
    version,
  }: Rendering = {},
): PageContext {
  const { page } = document;
  const pathsAndTimes = [page.slug, page.locale, page.time_zone];
  return {
    page,
    headline: headlineText(document),
    tone: toneOf(document),
    paths: pathsOf(page.slug),
    times: timesOf(page),
    version,
    renderText,
    renderPart: (id, facts, make) => renderPart(`${page.id} ${id}`, [pathsAndTimes, facts], make),
  };
}
