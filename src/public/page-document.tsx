import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import type { StatusDocument } from "../features/status";
import { sha256Base64 } from "../kernel/hash";
import { lazy } from "../kernel/lazy";
import { type HtmlDocument, minifyCss } from "../ui";
import base from "../ui/base.css" with { type: "text" };
import charts from "../ui/css/charts.css" with { type: "text" };
import tokens from "../ui/tokens.css" with { type: "text" };
import { accentCss } from "./accent";
import { Logo } from "./logo";
import css from "./page.css" with { type: "text" };
import { type PagePaths, pathsOf } from "./page-paths";
import { PAGE_SCRIPT_PATH } from "./page-script";
import { pageTimesOf, type PageTimes } from "./page-times";
import { type RenderPart, renderPart as renderPartAnew } from "./part-cache";
import { type RenderText, renderText as renderTextAnew } from "./markdown-cache";
import { StatusRing, statusIcon } from "./status-ring";

const pageCss = lazy(() => minifyCss([tokens, base, charts, css].join("\n")));

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

interface PageDocumentProps {
  context: PageContext;
  /** Title before the page's name. */
  title: string;
  /** Its path, if that is not the page's own. */
  path?: string;
  /** Description for search engines and messengers; the page's own by default. */
  description?: string;
  children: ComponentChildren;
}

/**
 * Renders one page of the public surface: whole with its style in one request, working without a
 * script, asking no other host for anything.
 */
export function renderPage(props: PageDocumentProps): HtmlDocument {
  const { context, title, path, children } = props;
  const { page, status, paths, times } = context;
  const description = props.description || page.description;
  const style = pageCss() + accentCss(page.accent);
  const isPublic = page.visibility === "public";
  const canonical = path === undefined ? page.url : page.url.replace(paths.home, path);
  const html = renderToString(
    <html lang={page.locale} {...(page.theme === "system" ? {} : { "data-theme": page.theme })}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{`${title} · ${page.name}`}</title>
        {description ? <meta name="description" content={description} /> : null}
        {isPublic ? (
          <>
            <link rel="canonical" href={canonical} />
            <link rel="alternate" type="application/atom+xml" href={paths.atom} />
            <link rel="alternate" type="application/rss+xml" href={paths.rss} />
          </>
        ) : (
          <meta name="robots" content="noindex" />
        )}
        <link rel="icon" href={statusIcon(status.indicator)} />
        <style dangerouslySetInnerHTML={{ __html: style }} />
        <script defer src={PAGE_SCRIPT_PATH} data-locale={times.locale} />
      </head>
      <body>
        <div class="column">
          <Header context={context} isHome={path === undefined} isPublic={isPublic} />
          <main>{children}</main>
          <Footer context={context} isPublic={isPublic} />
        </div>
      </body>
    </html>,
  );
  return { html: `<!doctype html>${html}`, policy: policyFor(style) };
}

/** The inline style by its hash and the script of this server; nothing else, from nowhere else. */
function policyFor(style: string): string {
  const hash = sha256Base64(style);
  return `default-src 'none'; style-src 'sha256-${hash}'; script-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}

interface FrameProps {
  context: PageContext;
  isPublic: boolean;
}

function Header({ context, isHome, isPublic }: FrameProps & { isHome: boolean }) {
  const { page, status, paths } = context;
  const brand = page.logo ? (
    <Logo page={page} path={page.logo.slice(page.logo.indexOf(paths.home))} />
  ) : (
    <>
      <StatusRing indicator={status.indicator} />
      {page.name}
    </>
  );
  return (
    <header class="top">
      {isHome ? (
        <h1 class="brand">{brand}</h1>
      ) : (
        <a class="brand" href={paths.home}>
          {brand}
        </a>
      )}
      {isPublic ? (
        <a class="top-link" href="#subscribe">
          Subscribe
        </a>
      ) : null}
    </header>
  );
}

function Footer({ context, isPublic }: FrameProps) {
  const { paths, times } = context;
  return (
    <footer class="foot muted">
      <nav id="subscribe" aria-label="History and feeds">
        <a href={paths.home}>Status</a>
        <a href={paths.history}>History</a>
        {isPublic ? (
          <>
            <a href={paths.atom}>Atom</a>
            <a href={paths.rss}>RSS</a>
            <a href={paths.calendar}>Calendar</a>
            <a href={paths.json}>JSON</a>
          </>
        ) : null}
      </nav>
      <p>
        <span data-zones>{times.zones}</span> Days are counted in UTC. Status by Allclear.
      </p>
    </footer>
  );
}
