import { LRUCache } from "lru-cache";
import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import { Icon, type IconName, spriteFor } from "./icons";
import { ringIconUrl, WordMark } from "./pictures";
import { inlineStyle, inlineStyleWith } from "./style-sheet";
import { InWords, type PageWords } from "./words";

/** HTML page with the policy to send it with. */
export interface HtmlDocument {
  html: string;
  /** Content-Security-Policy. */
  policy: string;
}

interface DocumentProps {
  title: string;
  locale?: string;
  theme?: "system" | "light" | "dark";
  description?: string;
  /** Style sheet added to that of all pages. */
  css?: string;
  /** Path of a script of this server. A page with one may read from this server and send its forms there. */
  script?: string;
  children: ComponentChildren;
}

/** Renders a page with an inline style sheet. It loads nothing from other hosts. */
export function renderDocument(props: DocumentProps): HtmlDocument {
  const { title, locale = "en", theme = "system" } = props;
  const style = props.css === undefined ? inlineStyle() : inlineStyleWith(props.css);
  const html = renderToString(
    <html lang={locale} {...(theme === "system" ? {} : { "data-theme": theme })}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{title}</title>
        {props.description ? <meta name="description" content={props.description} /> : null}
        <link rel="icon" href={ringIconUrl("ok")} />
        <style dangerouslySetInnerHTML={{ __html: style.css }} />
        {props.script ? <script type="module" src={props.script} /> : null}
      </head>
      <body>{props.children}</body>
    </html>,
  );
  const scripts = props.script ? " script-src 'self'; connect-src 'self';" : "";
  const forms = props.script ? "'self'" : "'none'";
  return {
    html: `<!doctype html>${html}`,
    policy: `default-src 'none'; style-src 'sha256-${style.hash}'; img-src 'self' data:;${scripts} base-uri 'none'; form-action ${forms}; frame-ancestors 'none'`,
  };
}

/**
 * Link to a web manifest. Browsers ask for one without cookies unless the link says so, and what is private, or behind a
 * proxy that identifies users, is sent to nobody without.
 */
export function ManifestLink({ href, isPrivate }: { href: string; isPrivate: boolean }) {
  return (
    <link
      rel="manifest"
      href={href}
      {...(isPrivate ? ({ crossOrigin: "use-credentials" } as const) : {})}
    />
  );
}

/** Paths of the dashboard's style sheet, script, favicon and web manifest. */
export interface LinkedAssets {
  style: string;
  script: string;
  icon: string;
  manifest: string;
}

interface LinkedDocumentProps {
  title: string;
  /** Words of a page that visitors see; English without them. */
  words?: PageWords | undefined;
  /** Theme selected in this browser; that of the system by default. */
  theme?: "system" | "light" | "dark" | undefined;
  assets: LinkedAssets;
  /** True for a page of the dashboard, which browsers put on a home screen. */
  isInstallable?: boolean;
  children: ComponentChildren;
}

const LINKED_POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; manifest-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Renders a page of the dashboard, which links to its style sheet and script on this server. */
export function renderLinkedDocument(props: LinkedDocumentProps): HtmlDocument {
  const { title, theme = "system", assets, words, children } = props;
  const body = renderToString(<InWords value={words}>{children}</InWords>);
  const html = renderToString(
    <html
      lang={words?.lang ?? "en"}
      dir={words?.dir === "rtl" ? "rtl" : undefined}
      {...(theme === "system" ? {} : { "data-theme": theme })}
    >
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content={theme === "system" ? "light dark" : theme} />
        <meta name="robots" content="noindex" />
        <title>{title}</title>
        <link rel="icon" type="image/svg+xml" href={assets.icon} />
        {props.isInstallable ? <ManifestLink href={assets.manifest} isPrivate /> : null}
        <link rel="stylesheet" href={assets.style} />
        <script type="module" src={assets.script} />
      </head>
      <body class="dash" dangerouslySetInnerHTML={{ __html: spriteFor(body) + body }} />
    </html>,
  );
  return { html: `<!doctype html>${html}`, policy: LINKED_POLICY };
}

interface PlainPageProps {
  /** Heading of the page. */
  title: string;
  /** Icon above the heading, on a page that does not show the name of the product. */
  icon?: IconName;
  /** Small text below the card. */
  foot?: ComponentChildren;
  children: ComponentChildren;
}

/** Body of a page without navigation: one card, such as for signing in. */
export function PlainPage({ title, icon, foot, children }: PlainPageProps) {
  return (
    <main class="plain">
      {icon === undefined ? <WordMark /> : null}
      <div class="card plain-card">
        {icon === undefined ? null : (
          <span class="tile">
            <Icon name={icon} />
          </span>
        )}
        <h1>{title}</h1>
        {children}
      </div>
      {foot ? <p class="plain-foot">{foot}</p> : null}
    </main>
  );
}

const CACHED_PAGES = 100;

/**
 * Returns a renderer that caches its last 100 different pages by the JSON of their properties. It is for
 * error pages, which may be requested thousands of times a second.
 */
export function createPageCache<Props>(
  render: (props: Props) => HtmlDocument,
): (props: Props) => HtmlDocument {
  const pages = new LRUCache<string, HtmlDocument>({ max: CACHED_PAGES });
  return (props) => {
    const key = JSON.stringify(props);
    const page = pages.get(key) ?? render(props);
    pages.set(key, page);
    return page;
  };
}
