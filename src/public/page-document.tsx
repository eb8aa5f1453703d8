import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import { logoSize, type Page } from "../features/pages";
import type { Indicator } from "../features/status";
import { sha256Base64 } from "../kernel/hash";
import { lazy } from "../kernel/lazy";
import { assetPath, type AssetSource, type HtmlDocument, minifyCss } from "../ui";
import base from "../ui/base.css" with { type: "text" };
import charts from "../ui/css/charts.css" with { type: "text" };
import tokens from "../ui/tokens.css" with { type: "text" };
import { accentCss } from "./accent";
import script from "./client.js" with { type: "text" };
import css from "./page.css" with { type: "text" };
import type { PageContext } from "./page-context";

const pageCss = lazy(() => minifyCss([tokens, base, charts, css].join("\n")));

/** Script of public pages: local times, and days by arrow keys. Pages work without it. */
export const PAGE_SCRIPT: AssetSource & { content: { text: string } } = {
  name: "page.js",
  mediaType: "text/javascript;charset=utf-8",
  content: { text: script },
};

const PAGE_SCRIPT_PATH = assetPath(PAGE_SCRIPT.name, script);

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

/** The room that a logo has at most, in CSS pixels. */
const ROOM = { width: 240, height: 44 };

/**
 * A page's own logo, which says the page's name. Its size is given, so that nothing moves when it comes.
 * `path` is where it is, without a host, since a page may have several.
 */
function Logo({ page, path }: { page: Pick<Page, "name">; path: string }) {
  const { width, height } = logoSize(path);
  const scale = Math.min(1, ROOM.width / width, ROOM.height / height);
  const fit = (side: number) => Math.max(1, Math.round(side * scale));
  return <img class="logo" src={path} alt={page.name} width={fit(width)} height={fit(height)} />;
}

// Closed when all is well, else with a gap: a shape as well as a colour.
const RADIUS = 6;
const GAP = { "stroke-dasharray": "28 10", transform: "rotate(-8 8 8)" };

/** The favicon's colour for each severity of the headline: readable on light and on dark tabs. */
const ICON_COLOURS: Record<Indicator, string> = {
  none: "#1f9254",
  maintenance: "#3b7ae0",
  minor: "#d5641b",
  major: "#d93a40",
  critical: "#d93a40",
};

/** The mark of a page, in the colour of its status. For the eye only: the banner says it in words. */
function StatusRing({ indicator }: { indicator: Indicator }) {
  return (
    <svg class={`ring is-${indicator}`} viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r={RADIUS} {...(indicator === "none" ? {} : GAP)} />
    </svg>
  );
}

/** The same as a favicon: a `data:` URL. */
function statusIcon(indicator: Indicator): string {
  const gap = Object.entries(indicator === "none" ? {} : GAP)
    .map(([name, value]) => ` ${name}="${value}"`)
    .join("");
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="${RADIUS}" fill="none" stroke="${ICON_COLOURS[indicator]}" stroke-width="3"${gap}/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
