import type { Tone } from "../base/status";
import { headlineText, toneOf } from "../features/status/rules";
import type { StatusDocument } from "../features/status/model";
import { type RenderText, renderText as renderTextUncached } from "./markdown-cache";
import { type PagePaths, pathsOf, pathsOfCopy, type StaticCopy } from "./page-paths";
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
  /** Set for a copy, which is not refreshed, has no forms and shows its age. */
  copy: StaticCopy | undefined;
  /** Set if the data is old. */
  delay: Delay | undefined;
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
  copy?: StaticCopy;
  delay?: Delay;
}

/** Time of old data, and the present, in unix ms. */
export interface Delay {
  asOf: number;
  now: number;
}

/** Returns the context of a page. By default it renders without caches. */
export function contextOf(
  document: StatusDocument,
  {
    renderText = renderTextUncached,
    renderPart = renderPartUncached,
    timesOf = createPageTimes,
    version,
    copy,
    delay,
  }: Rendering = {},
): PageContext {
  const { page } = document;
  const pathsAndTimes = [page.slug, page.locale, page.time_zone];
  const paths = pathsOf(page.slug);
  return {
    page,
    headline: headlineText(document),
    tone: toneOf(document),
    paths: copy ? pathsOfCopy(paths, originOf(page), copy) : paths,
    times: timesOf(page),
    version,
    copy,
    delay,
    renderText,
    renderPart: (id, facts, make) => renderPart(`${page.id} ${id}`, [pathsAndTimes, facts], make),
  };
}

/** Returns the address of a page's host, without a slash at its end. */
export function originOf({ url, slug }: Pick<StatusDocument["page"], "url" | "slug">): string {
  return url.slice(0, -pathsOf(slug).home.length);
}

/** Returns the address of a live document; without a path, that of the status page. */
export function liveUrl({ page }: Pick<PageContext, "page">, path: string | undefined): string {
  return path === undefined ? page.url : originOf(page) + path;
}
