import type { StatusDocument } from "../features/status";
import { type RenderText, renderText as renderTextAnew } from "./markdown-cache";
import { type PagePaths, pathsOf } from "./page-paths";
import { type PageTimes, pageTimesOf } from "./page-times";
import { type RenderPart, renderPart as renderPartAnew } from "./part-cache";

/** Context of every document of a status page: the page, its headline and its paths. */
export interface PageContext {
  page: StatusDocument["page"];
  status: StatusDocument["status"];
  paths: PagePaths;
  times: PageTimes;
  /** Makes HTML of what people wrote. */
  renderText: RenderText;
  /**
   * Makes HTML of a part of this page, whose id is its own within the page. What `paths` and `times` are
   * made from need not be among its facts; all else of `page` and `status` must.
   */
  renderPart: RenderPart;
}

/** Renderers of parts of a page, which may use a cache. */
export interface Rendering {
  renderText?: RenderText;
  renderPart?: RenderPart;
}

export function contextOf(
  { page, status }: StatusDocument,
  { renderText = renderTextAnew, renderPart = renderPartAnew }: Rendering = {},
): PageContext {
  const pathsAndTimes = [page.slug, page.locale, page.time_zone];
  return {
    page,
    status,
    paths: pathsOf(page.slug),
    times: pageTimesOf(page),
    renderText,
    renderPart: (id, facts, make) => renderPart(`${page.id} ${id}`, [pathsAndTimes, facts], make),
  };
}
