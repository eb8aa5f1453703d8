import type { ComponentChildren } from "preact";
import { logoSize } from "../features/pages/address";
import type { Page } from "../features/pages/model";
import { assetPath, type AssetSource, withoutComments } from "../ui/assets";
import type { HtmlDocument } from "../ui/documents";
import { Icon } from "../ui/icons";
import { StatusRing } from "../ui/pictures";
import days from "../ui/days.js" with { type: "text" };
import morph from "../ui/morph.js" with { type: "text" };
import ages from "./ages.js" with { type: "text" };
import localTimes from "./client.js" with { type: "text" };
import copyAge from "./copy-age.js" with { type: "text" };
import { CopyLine } from "./copy-line";
import { DelayLine } from "./delay-line";
import { renderFramed } from "./document-frame";
import live from "./live.js" with { type: "text" };
import { liveUrl, type PageContext } from "./page-context";
import { PageMeta } from "./page-head";

/** Script of public pages: local times, days by arrow keys, and live refresh. Pages work without it. */
export const PAGE_SCRIPT: AssetSource & { content: { text: string } } = {
  name: "page.js",
  mediaType: "text/javascript;charset=utf-8",
  content: { text: withoutComments([localTimes, days, ages, morph, live].join("\n")) },
};

/** Script of copies of public pages: local times, days by arrow keys, and the age of the copy. */
export const STATIC_COPY_SCRIPT: AssetSource & { content: { text: string } } = {
  name: "static-copy.js",
  mediaType: "text/javascript;charset=utf-8",
  content: { text: withoutComments([localTimes, days, ages, copyAge].join("\n")) },
};

const PAGE_SCRIPT_PATH = assetPath(PAGE_SCRIPT.name, PAGE_SCRIPT.content.text);
const COPY_SCRIPT_PATH = assetPath(STATIC_COPY_SCRIPT.name, STATIC_COPY_SCRIPT.content.text);

/** Script of a public page or of its copy. */
export function PageScript({ context }: { context: PageContext }) {
  const { copy, paths, times, version } = context;
  if (copy) return <script defer src={COPY_SCRIPT_PATH} data-locale={times.locale} />;
  return (
    <script
      defer
      src={PAGE_SCRIPT_PATH}
      data-locale={times.locale}
      data-live={version === undefined ? undefined : `${paths.home}/version`}
      data-version={version}
    />
  );
}

interface PageDocumentProps {
  context: PageContext;
  /** Title before the page's name. */
  title: string;
  /** Path of the document, if it is not the page itself. */
  path?: string;
  /** Link of the navigation that leads to this document. */
  current?: "status" | "history" | "subscribe";
  /** Script added to that of all pages. */
  script?: AssetSource & { content: { text: string } };
  /** Style sheet added to that of all pages. */
  css?: string;
  /** Direction of text; by default that of the browser. */
  dir?: "ltr" | "rtl";
  /** Description for search engines and messengers; by default that of the page. */
  description?: string;
  children: ComponentChildren;
}

/**
 * Renders a document of a status page. Its style is inline, it works without a script and loads nothing
 * from other hosts.
 */
export function renderPage(props: PageDocumentProps): HtmlDocument {
  const { context, title, path, description, current, script, css = "", dir, children } = props;
  const { page, copy } = context;
  const isPublic = page.visibility === "public";
  return renderFramed({
    page,
    css,
    dir,
    isCopy: copy !== undefined,
    // Cached component rows have no icons.
    body: (
      <div class="column">
        <a class="skip" href="#main">
          Skip to content
        </a>
        {copy ? <CopyLine copy={copy} context={context} url={liveUrl(context, path)} /> : null}
        {context.delay ? <DelayLine context={context} delay={context.delay} /> : null}
        <Header context={context} isPublic={isPublic} current={current} />
        <main id="main">{children}</main>
        <Footer context={context} isPublic={isPublic} />
      </div>
    ),
    head: (
      <PageMeta
        context={context}
        title={`${title} · ${page.name}`}
        path={path}
        description={description}
      />
    ),
    scripts: (
      <>
        <PageScript context={context} />
        {script ? <script defer src={assetPath(script.name, script.content.text)} /> : null}
      </>
    ),
  });
}

interface FrameProps {
  context: PageContext;
  isPublic: boolean;
}

function Header(props: FrameProps & { current: PageDocumentProps["current"] }) {
  const { context, isPublic, current } = props;
  const { page, tone, paths } = context;
  const currentIf = (name: PageDocumentProps["current"]) =>
    current === name ? ({ "aria-current": "page" } as const) : {};
  return (
    <header class="top">
      <a class="brand" href={paths.home}>
        {page.logo ? (
          <Logo page={page} path={page.logo.slice(page.logo.indexOf(paths.home))} />
        ) : (
          <>
            <StatusRing tone={tone} />
            {page.name}
          </>
        )}
      </a>
      <nav aria-label="Page">
        <a href={paths.home} {...currentIf("status")}>
          Status
        </a>
        <a href={paths.history} {...currentIf("history")}>
          History
        </a>
        {isPublic ? (
          <a class="button" href={paths.subscribe} {...currentIf("subscribe")}>
            <Icon name="bell" />
            Subscribe
          </a>
        ) : null}
      </nav>
    </header>
  );
}

function Footer({ context, isPublic }: FrameProps) {
  const { paths, times } = context;
  return (
    <footer class="foot">
      <nav aria-label="More">
        <a href={paths.home}>Status</a>
        <a href={paths.history}>History</a>
        {isPublic ? (
          <>
            <a href={paths.subscribe}>Subscribe</a>
            <a href={paths.atom}>Atom</a>
            <a href={paths.rss}>RSS</a>
            <a href={paths.calendar}>Calendar</a>
            <a href={paths.json}>JSON</a>
          </>
        ) : null}
      </nav>
      <p>
        <span data-zones>{times.zones}</span> Uptime is counted in UTC days. Status by Allclear.
      </p>
    </footer>
  );
}

/** Maximum size of a logo, in CSS pixels. */
const LOGO_MAX = { width: 240, height: 44 };

/**
 * Logo of a page, with the page's name as its text. Its size is declared, so that the layout does not
 * move when it loads. `path` has no host, since a page may have several.
 */
export function Logo({ page, path }: { page: Pick<Page, "name">; path: string }) {
  const { width, height } = logoSize(path);
  const scale = Math.min(1, LOGO_MAX.width / width, LOGO_MAX.height / height);
  const fit = (side: number) => Math.max(1, Math.round(side * scale));
  return <img class="logo" src={path} alt={page.name} width={fit(width)} height={fit(height)} />;
}
