import { readFileSync } from "node:fs";
import type { ComponentChildren, VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import { sha256Base64 } from "../base/hash";
import { lazy } from "../base/lazy";
import type { Tone } from "../base/status";
import { toIso } from "../base/time";
import { withLanguage } from "../features/pages/language-links";
import { logoSize } from "../features/pages/addresses";
import { OWN_CLASS } from "../features/pages/custom-css";
import { CSS } from "../features/pages/look";
import type { Page } from "../features/pages/wire";
import { type MessageKey, type Words, wordsOf } from "../languages/words";
import { assetPath, type AssetSource, withoutComments } from "../ui/assets";
import base from "../ui/base.css" with { type: "text" };
import charts from "../ui/css/charts.css" with { type: "text" };
import text from "../ui/css/text.css" with { type: "text" };
import days from "../ui/days.js" with { type: "text" };
import { type HtmlDocument, ManifestLink } from "../ui/documents";
import { safeHref } from "../ui/buttons";
import { Icon, spriteFor } from "../ui/icons";
import morph from "../ui/morph.js" with { type: "text" };
import { ringIconUrl, StatusRing } from "../ui/pictures";
import { colourOf, minifyCss } from "../ui/style-sheet";
import { InWords, type PageWords, useWords } from "../ui/words";
import tokens from "../ui/tokens.css" with { type: "text" };
import ages from "./ages.js" with { type: "text" };
import localTimes from "./client.js" with { type: "text" };
import copyAge from "./copy-age.js" with { type: "text" };
import banner from "./css/banner.css" with { type: "text" };
import components from "./css/components.css" with { type: "text" };
import frame from "./css/page.css" with { type: "text" };
import lookText from "./css/look.css" with { type: "text" };
import languagesText from "./css/languages.css" with { type: "text" };
import preferences from "./css/preferences.css" with { type: "text" };
import sections from "./css/sections.css" with { type: "text" };
import updates from "./css/updates.css" with { type: "text" };
import filter from "./filter.js" with { type: "text" };
import live from "./live.js" with { type: "text" };
import { withoutLanguage } from "./chosen-language";
import { type Delay, liveUrl, originOf, type PageContext, type StaticCopy } from "./page-context";
import degraded from "./pictures/preview-degraded.png" with { type: "file" };
import maint from "./pictures/preview-maint.png" with { type: "file" };
import major from "./pictures/preview-major.png" with { type: "file" };
import none from "./pictures/preview-none.png" with { type: "file" };
import ok from "./pictures/preview-ok.png" with { type: "file" };
import partial from "./pictures/preview-partial.png" with { type: "file" };

/** Messages of a script by the names that it uses. The script fills in their values. */
export type ScriptWords = Readonly<Record<string, MessageKey>>;

const COMMON_WORDS = {
  now: "time.just_now",
  zone: "page.zone_own",
  none: "filter.none",
  found: "filter.found",
} as const satisfies ScriptWords;
const PAGE_WORDS = {
  ...COMMON_WORDS,
  comma: "list.separator",
  live: "live.refreshes",
  failing: "live.failing",
} as const satisfies ScriptWords;
const COPY_WORDS = {
  ...COMMON_WORDS,
  age: "copy.age",
  old: "copy.old",
} as const satisfies ScriptWords;

/** Returns the words of a script as JSON: an attribute of the script on pages in other languages than English. */
function wordsOfScript({ t }: Pick<Words, "t">, keys: ScriptWords): string {
  const words = Object.entries(keys).map(([name, key]) => [name, t(key)]);
  return JSON.stringify(Object.fromEntries(words));
}

/** Returns a script with its English words in place of `WORDS`. */
export function withEnglishWords(script: string, keys: ScriptWords): string {
  return script.replace("WORDS", () => wordsOfScript(wordsOf("en"), keys));
}

/** Script of public pages: local times, days by arrow keys, filter and live refresh. Pages work without it. */
export const PAGE_SCRIPT: AssetSource & { content: { text: string } } = {
  name: "page.js",
  mediaType: "text/javascript;charset=utf-8",
  content: {
    text: withoutComments(
      withEnglishWords([localTimes, days, ages, filter, morph, live].join("\n"), PAGE_WORDS),
    ),
  },
};

/** Script of copies of public pages: local times, days by arrow keys, filter and the age of the copy. */
export const STATIC_COPY_SCRIPT: AssetSource & { content: { text: string } } = {
  name: "static-copy.js",
  mediaType: "text/javascript;charset=utf-8",
  content: {
    text: withoutComments(
      withEnglishWords([localTimes, days, ages, filter, copyAge].join("\n"), COPY_WORDS),
    ),
  },
};

const PAGE_SCRIPT_PATH = assetPath(PAGE_SCRIPT.name, PAGE_SCRIPT.content.text);
const COPY_SCRIPT_PATH = assetPath(STATIC_COPY_SCRIPT.name, STATIC_COPY_SCRIPT.content.text);

/** Script of a public page or of its copy. */
export function PageScript({ context }: { context: PageContext }) {
  const { copy, paths, times, version, words } = context;
  const ownWords = words.isEnglish
    ? undefined
    : wordsOfScript(words, copy ? COPY_WORDS : PAGE_WORDS);
  if (copy) {
    return <script defer src={COPY_SCRIPT_PATH} data-locale={times.locale} data-words={ownWords} />;
  }
  return (
    <script
      defer
      src={PAGE_SCRIPT_PATH}
      data-locale={times.locale}
      data-words={ownWords}
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
  /** Words of that script. */
  scriptWords?: ScriptWords;
  /** Style sheet added to that of all pages. */
  css?: string;
  /** Description for search engines and messengers; by default that of the page. */
  description?: string;
  children: ComponentChildren;
}

/**
 * Renders a document of a status page. Its style is inline, it works without a script and loads nothing
 * from other hosts.
 */
export function renderPage(props: PageDocumentProps): HtmlDocument {
  const { context, title, path, description, current, script, css = "", children } = props;
  const { page, copy, words } = context;
  const isPublic = page.visibility === "public";
  const { [CSS]: ownStyle = "", look } = page;
  const lines = (
    <>
      <a class="skip" href="#main">
        {words.say("page.skip")}
      </a>
      {copy ? <CopyLine copy={copy} context={context} url={liveUrl(context, path)} /> : null}
      {context.delay ? <DelayLine context={context} delay={context.delay} /> : null}
    </>
  );
  const content = (
    <>
      <Header context={context} isPublic={isPublic} current={current} />
      <main id="main">
        <Note text={look.header} context={context} />
        {children}
      </main>
      <Footer context={context} isPublic={isPublic} path={path} />
    </>
  );
  return renderFramed({
    page,
    words,
    css: css + (hasLook(page) ? lookCss() : ""),
    ownStyle,
    hasLanguages: context.languages.length > 0,
    isCopy: copy !== undefined,
    // Cached component rows have no icons. CSS of the page's own styles its content alone, and not the lines.
    body:
      ownStyle === "" ? (
        <div class="column">
          {lines}
          {content}
        </div>
      ) : (
        <>
          <div class="column">{lines}</div>
          <div class={OWN_CLASS}>
            <div class="column">{content}</div>
          </div>
        </>
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
        {script ? (
          <script
            defer
            src={assetPath(script.name, script.content.text)}
            data-words={words.isEnglish ? undefined : wordsOfScript(words, props.scriptWords ?? {})}
          />
        ) : null}
      </>
    ),
  });
}

/** Returns true for a page whose documents need the style of notes, links, a notice or a style of its own. */
function hasLook({ look, [CSS]: ownStyle = "" }: PageContext["page"]): boolean {
  const { header, footer, links, notice } = look;
  return ownStyle !== "" || links.length > 0 || [header, footer, notice].some(Boolean);
}

/** Text of the people of a page, in Markdown; nothing for null. */
function Note({ text, context }: { text: string | null; context: PageContext }) {
  if (text === null) return null;
  const html = context.renderText(text, NOTE_HEADING);
  return <div class="text note" dangerouslySetInnerHTML={{ __html: html }} />;
}

/** Level of the highest heading in notes and notices. */
export const NOTE_HEADING = 2;

/** Links of the page's own. On phones the head has no room for them, and they are in the foot alone. */
function OwnLinks({ context }: { context: PageContext }) {
  return (
    <>
      {context.page.look.links.map(({ name, url }) => (
        <a href={safeHref(url)} rel="noopener">
          <bdi>{name}</bdi>
        </a>
      ))}
    </>
  );
}

interface FrameProps {
  context: PageContext;
  isPublic: boolean;
}

function Header(props: FrameProps & { current: PageDocumentProps["current"] }) {
  const { context, isPublic, current } = props;
  const { page, tone, paths } = context;
  const { t, say } = useWords();
  const currentIf = (name: PageDocumentProps["current"]) =>
    current === name ? ({ "aria-current": "page" } as const) : {};
  const { hide_history: isHidden, notice, notice_until: until } = page.look;
  return (
    <header class="top">
      {notice === null ? null : (
        <div
          class="text notice"
          role="note"
          data-until={until}
          dangerouslySetInnerHTML={{ __html: context.renderText(notice, NOTE_HEADING) }}
        />
      )}
      <a class="brand" href={paths.page}>
        {page.logo ? (
          <Logo page={page} path={page.logo.slice(page.logo.indexOf(paths.home))} />
        ) : (
          <>
            <StatusRing tone={tone} />
            <bdi>{page.name}</bdi>
          </>
        )}
      </a>
      <nav aria-label={t("page.nav")}>
        <a href={paths.page} {...currentIf("status")}>
          {say("page.status")}
        </a>
        {isHidden ? null : (
          <a href={paths.history} {...currentIf("history")}>
            {say("page.history")}
          </a>
        )}
        <OwnLinks context={context} />
        {isPublic ? (
          <a class="button" href={paths.subscribe} {...currentIf("subscribe")}>
            <Icon name="bell" />
            {say("page.subscribe")}
          </a>
        ) : null}
      </nav>
    </header>
  );
}

function Footer({ context, isPublic, path }: FrameProps & { path: string | undefined }) {
  const { page, paths, times } = context;
  const { t, say } = useWords();
  return (
    <footer class="foot">
      <Note text={page.look.footer} context={context} />
      <nav aria-label={t("page.more")}>
        <a href={paths.page}>{say("page.status")}</a>
        {page.look.hide_history ? null : <a href={paths.history}>{say("page.history")}</a>}
        {isPublic ? (
          <>
            <a href={paths.subscribe}>{say("page.subscribe")}</a>
            <a href={paths.atom}>Atom</a>
            <a href={paths.rss}>RSS</a>
            <a href={paths.calendar}>{say("page.calendar")}</a>
            <a href={paths.json}>JSON</a>
          </>
        ) : null}
        <OwnLinks context={context} />
      </nav>
      <Languages context={context} path={path} />
      <p>
        <span data-zones>
          {times.zone === undefined
            ? say("page.zone_utc")
            : say("page.zones", { zone: times.zone })}
        </span>{" "}
        {say("page.foot")}
      </p>
    </footer>
  );
}

/** Links to the document in the other languages of the page; nothing if it has a single one. */
function Languages({
  context: { languages, page, paths, copy, words },
  path = paths.page,
}: {
  context: PageContext;
  path: string | undefined;
}) {
  const { t } = useWords();
  if (languages.length === 0) return null;
  // A copy has one language only.
  const address = `${copy ? originOf(page) : ""}${withoutLanguage(path)}`;
  return (
    <nav class="languages" aria-label={t("page.language")}>
      {languages.map(({ chosen, lang, name, dir }) => (
        <a
          lang={lang}
          dir={dir}
          hreflang={lang}
          href={withLanguage(address, chosen)}
          aria-current={lang === words.lang ? "true" : undefined}
        >
          {name}
        </a>
      ))}
    </nav>
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

const PARTS = [
  tokens,
  base,
  charts,
  frame,
  sections,
  banner,
  updates,
  text,
  components,
  preferences,
];

/** Style sheet of all public pages, without the accent colour. Later files override earlier ones. */
const pageCss = lazy(() => minifyCss(PARTS.join("\n")));
/** Style sheet added to that of pages with notes, links, a notice, or CSS of their own. */
const lookCss = lazy(() => minifyCss(lookText));
/** Style sheet added to that of pages with several languages, or with another one than English. */
const languagesCss = lazy(() => minifyCss(languagesText));

interface FramedProps {
  page: Pick<Page, "theme" | "accent">;
  words: PageWords;
  /** Style sheet added to that of all pages. */
  css: string;
  /** Style sheet of the page's own, after all others. */
  ownStyle?: string;
  /** Title and description of the document. */
  head: ComponentChildren;
  scripts?: ComponentChildren;
  body: VNode;
  /** True if visitors choose among languages. */
  hasLanguages?: boolean;
  /** True if the document contains its policy, since the server of a copy does not know the header. */
  isCopy?: boolean;
}

/**
 * Renders a document in the look of a status page. Its style is inline, and its sprite has only the icons of
 * its body.
 */
export function renderFramed(props: FramedProps): HtmlDocument {
  const { page, words, hasLanguages = false } = props;
  const isRtl = words.dir === "rtl";
  const more = hasLanguages || !words.isEnglish ? languagesCss() : "";
  const style = pageCss() + more + props.css + accentCss(page.accent) + (props.ownStyle ?? "");
  const policy = policyFor(style);
  const body = renderToString(<InWords value={words}>{props.body}</InWords>);
  const html = renderToString(
    <html
      lang={words.lang}
      dir={isRtl ? "rtl" : undefined}
      {...(page.theme === "system" ? {} : { "data-theme": page.theme })}
    >
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        {props.isCopy ? <meta http-equiv="Content-Security-Policy" content={policy} /> : null}
        {props.head}
        <style dangerouslySetInnerHTML={{ __html: style }} />
        {props.scripts}
      </head>
      <body dangerouslySetInnerHTML={{ __html: body + spriteFor(body) }} />
    </html>,
  );
  return { html: `<!doctype html>${html}`, policy: `${policy}; frame-ancestors 'none'` };
}

/**
 * Returns the policy without `frame-ancestors`, which an element cannot have: the inline style by its hash, scripts and
 * images of this server.
 */
function policyFor(style: string): string {
  const hash = sha256Base64(style);
  return `default-src 'none'; style-src 'sha256-${hash}'; script-src 'self'; img-src 'self' data:; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'`;
}

/** Start of the body of a public page, after which the strip is inserted. */
const BEGINNING = '<body><div class="column">';
const STRIP =
  '<p class="strip t-maint" role="status" lang="en" dir="ltr">Preview. Nothing was published.</p>';

/** Marks a public page as a preview, at its top and in its title. */
export function asPreview({ html, policy }: HtmlDocument): HtmlDocument {
  if (!html.includes(BEGINNING)) throw new Error("the page has an unknown start");
  return {
    html: html.replace("<title>", "<title>Preview: ").replace(BEGINNING, () => BEGINNING + STRIP),
    policy,
  };
}

const PREVIEW_FILES: Record<Tone, string> = { none, ok, maint, degraded, partial, major };

/**
 * Pictures of a page's state, which messengers show next to a link to the page, one for each tone.
 * `test/preview-pictures.tsx` draws them.
 */
export const PREVIEW_PICTURES: readonly AssetSource[] = Object.entries(PREVIEW_FILES).map(
  ([tone, path]) => ({
    name: `preview-${tone}.png`,
    mediaType: "image/png",
    content: { path },
  }),
);

const PREVIEW_SIZE = { width: "1200", height: "630" };

/** Path of the picture of each tone. */
const previewAssets = lazy(
  () =>
    new Map(
      Object.entries(PREVIEW_FILES).map(([tone, path]) => [
        tone,
        assetPath(`preview-${tone}.png`, readFileSync(path)),
      ]),
    ),
);

interface PageMetaProps {
  context: PageContext;
  /** Title of the document, with the page's name. */
  title: string;
  /** Path of the document, if it is not the page itself. */
  path: string | undefined;
  description: string | undefined;
}

/**
 * Description of a document for browsers, search engines and messengers. A private page is excluded from
 * search engines and has no preview in messengers.
 */
function PageMeta({ context, title, path, ...props }: PageMetaProps) {
  const { page, headline, tone, paths, words } = context;
  const description =
    props.description || page.description || words.t("page.description", { page: page.name });
  const origin = originOf(page);
  const url = liveUrl(context, path);
  const [light, dark] = PAPERS;
  return (
    <>
      <title>{title}</title>
      <meta name="description" content={description} />
      {page.theme === "system" ? (
        <>
          <meta name="theme-color" content={light} media="(prefers-color-scheme: light)" />
          <meta name="theme-color" content={dark} media="(prefers-color-scheme: dark)" />
        </>
      ) : (
        <meta name="theme-color" content={page.theme === "dark" ? dark : light} />
      )}
      {page.visibility === "public" ? (
        <>
          <link rel="canonical" href={url} />
          {context.languages.map(({ chosen, lang }) => (
            <link
              rel="alternate"
              hreflang={lang}
              href={withLanguage(withoutLanguage(url), chosen)}
            />
          ))}
          {context.languages.length === 0 ? null : (
            <link rel="alternate" hreflang="x-default" href={withoutLanguage(url)} />
          )}
          <link rel="alternate" type="application/atom+xml" href={paths.atom} />
          <link rel="alternate" type="application/rss+xml" href={paths.rss} />
          <meta property="og:type" content="website" />
          <meta property="og:site_name" content={page.name} />
          <meta property="og:title" content={title} />
          <meta property="og:description" content={description} />
          <meta property="og:url" content={url} />
          <meta property="og:image" content={origin + previewAssets().get(tone)} />
          <meta property="og:image:width" content={PREVIEW_SIZE.width} />
          <meta property="og:image:height" content={PREVIEW_SIZE.height} />
          <meta property="og:image:alt" content={headline} />
          <meta name="twitter:card" content="summary_large_image" />
        </>
      ) : (
        <meta name="robots" content="noindex" />
      )}
      <ManifestLink href={paths.manifest} isPrivate={page.visibility === "private"} />
      <Icons page={page} paths={paths} tone={tone} />
    </>
  );
}

/** Side from which a favicon is large enough for the home screens of iOS, in pixels. */
const TOUCH_MIN_SIDE = 120;

/** Links to the page's favicon, or to the mark of its state. `favicon` has a host, of which a page may have several. */
function Icons({ page, paths, tone }: Pick<PageContext, "page" | "paths" | "tone">) {
  if (page.favicon === null) return <link rel="icon" href={ringIconUrl(tone)} />;
  const path = page.favicon.slice(page.favicon.indexOf(paths.home));
  return (
    <>
      <link rel="icon" href={path} />
      {logoSize(path).width >= TOUCH_MIN_SIDE ? <link rel="apple-touch-icon" href={path} /> : null}
    </>
  );
}

/** Strip above a page of a replica whose data is old. */
function DelayLine({
  context: { times },
  delay: { asOf, now },
}: {
  context: Pick<PageContext, "times">;
  delay: Delay;
}) {
  const { say } = useWords();
  const iso = toIso(asOf);
  const isToday = iso.slice(0, 10) === toIso(now).slice(0, 10);
  const time = <time dateTime={iso}>{isToday ? times.clock(iso) : times.moment(iso)}</time>;
  return (
    <p class="strip t-maint" role="status">
      {say("page.delayed", { time })}
    </p>
  );
}

interface CopyProps {
  copy: StaticCopy;
  context: Pick<PageContext, "times">;
}

/** Strip above a copy: the time at which it was made, and a link to the live document. */
function CopyLine({ url, ...props }: CopyProps & { url: string }) {
  const { t, say } = useWords();
  return (
    <aside class="strip t-maint" aria-label={t("copy.label")}>
      <CopyAge {...props} /> <a href={url}>{say("copy.live")}</a>
    </aside>
  );
}

/**
 * Time at which a copy was made. A script replaces it by the age of the copy, and adds a warning to a copy of five
 * minutes or more.
 */
export function CopyAge({ copy, context: { times } }: CopyProps) {
  const { say } = useWords();
  const iso = toIso(copy.madeAt);
  return (
    <>
      {say("copy.made", {
        made: (text) => (
          <time dateTime={iso} data-made-at>
            {text}
          </time>
        ),
        time: times.clock(iso),
        day: times.day(iso),
      })}{" "}
      <span role="status" data-copy-old />
    </>
  );
}

/** Minimum contrast of text (WCAG 2.2, 1.4.3). */
const MIN_CONTRAST = 4.5;

/** Grounds of pages in the light and in the dark theme. */
export const PAPERS = [colourOf("paper", 0), colourOf("paper", 1)] as const;

/** Backgrounds behind a page's accent colour: paper and card of both themes. */
const GROUNDS = PAPERS.map((paper, theme) => [paper, colourOf("card", theme)]);

/**
 * Returns the CSS that sets the page's accent colour (`#rrggbb`), used for links, focus outlines
 * and, mixed with the card, for grounds. A theme in which the colour has too little contrast keeps the default colour.
 */
export function accentCss(accent: string | null): string {
  if (accent === null || !/^#[0-9a-f]{6}$/i.test(accent)) return "";
  const [isReadableInLight, isReadableInDark] = GROUNDS.map((grounds) =>
    grounds.every((ground) => contrast(accent, ground) >= MIN_CONTRAST),
  );
  const soft = `color-mix(in oklab,${accent} 12%,var(--card))`;
  const rule = `{--accent:${accent};--accent-soft:${soft}}`;
  const light = isReadableInLight ? `:root${rule}` : "";
  const dark = isReadableInDark
    ? `@media (prefers-color-scheme:dark){:root:not([data-theme="light"])${rule}}:root[data-theme="dark"]${rule}`
    : "";
  return light + dark;
}

/** Returns the contrast ratio of two colours by WCAG 2.2, from 1 to 21. */
export function contrast(a: string, b: string): number {
  const [darker = 0, lighter = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Returns the relative luminance of `#rrggbb` by WCAG 2.2. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = parseInt(colour.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
