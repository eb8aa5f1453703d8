import { withLanguage } from "../features/pages/language-links";
import { renderToString } from "preact-render-to-string";
import { sha256Base64 } from "../base/hash";
import { lazy } from "../base/lazy";
import { listedTone, TONE_FILLS } from "../base/status";
import { headlineKey, toneOf } from "../features/status/rules";
import type { Snapshot } from "../features/status/snapshots";
import { LANG } from "../languages/tags";
import { wordsOf } from "../languages/words";
import base from "../ui/base.css" with { type: "text" };
import { Shape } from "../ui/blocks";
import type { HtmlDocument } from "../ui/documents";
import { StatusRing } from "../ui/pictures";
import { minifyCss } from "../ui/style-sheet";
import { InWords, useWords } from "../ui/words";
import tokens from "../ui/tokens.css" with { type: "text" };
import { OUTLINES, shorten } from "./badges";
import { chosenLanguage } from "./chosen-language";
import style from "./css/embed.css" with { type: "text" };
import { contextOf, type PageContext, type Rendering } from "./page-context";
import { accentCss, CopyAge, PageScript } from "./page-document";
import { ClockTime } from "./page-times";
import script from "./widget.js" with { type: "text" };

/** Maximum number of entries. The height of the frame in copied code has room for them. */
const ENTRIES_MAX = 3;

export const EMBED_THEMES = ["light", "dark"] as const;
export type EmbedTheme = (typeof EMBED_THEMES)[number];

const embedCss = lazy(() => minifyCss([tokens, base, style].join("\n")));

/**
 * Renders a public page for a small frame of another site: headline, open incidents and the next
 * maintenance. Its policy allows every site to show it. Without a theme it follows the page and the reader.
 */
export function renderEmbed(
  snapshot: Snapshot,
  theme: EmbedTheme | undefined,
  rendering: Rendering,
): HtmlDocument {
  const context = contextOf(snapshot.document, rendering);
  const { page, headline, tone, copy, words } = context;
  const css = embedCss() + accentCss(page.accent);
  const chosen = theme ?? (page.theme === "system" ? undefined : page.theme);
  const policy = `default-src 'none'; style-src 'sha256-${sha256Base64(css)}'; script-src 'self'; connect-src 'self'; base-uri 'self'; form-action 'none'`;
  const html = renderToString(
    <html lang={words.lang} dir={words.dir === "rtl" ? "rtl" : undefined} data-theme={chosen}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        {copy ? <meta http-equiv="Content-Security-Policy" content={policy} /> : null}
        <meta name="robots" content="noindex" />
        <title>{`${headline} · ${page.name}`}</title>
        <base target="_blank" />
        <style dangerouslySetInnerHTML={{ __html: css }} />
        <PageScript context={context} />
      </head>
      <body>
        <InWords value={words}>
          <main class={`embed t-${tone}`}>
            <StatusRing tone={tone} />
            <div>
              <p class="embed-name" dir="auto">
                {page.name}
              </p>
              <h1>{headline}</h1>
            </div>
            {copy ? (
              <p class="embed-foot">
                <CopyAge copy={copy} context={context} />
              </p>
            ) : null}
            <Entries snapshot={snapshot} context={context} />
            <p class="embed-foot">
              <a href={withLanguage(page.url, context.language)}>
                {words.say("embed.open", {
                  page: page.name,
                  unseen: (text) => <span class="unseen">{text}</span>,
                })}
              </a>
            </p>
          </main>
        </InWords>
      </body>
    </html>,
  );
  return { html: `<!doctype html>${html}`, policy: `${policy}; frame-ancestors *` };
}

/** Open incidents and maintenance, at most three, and the number of the others. */
function Entries({ snapshot, context }: { snapshot: Snapshot; context: PageContext }) {
  const { t, say, langOf, isEnglish } = useWords();
  const { incidents, maintenance, page } = snapshot.document;
  const count = snapshot.openIncidentCount + maintenance.length;
  if (count === 0) return null;
  const shownIncidents = incidents.slice(0, ENTRIES_MAX);
  const shownMaintenance = maintenance.slice(0, ENTRIES_MAX - shownIncidents.length);
  const others = count - shownIncidents.length - shownMaintenance.length;
  return (
    <ul class="embed-list">
      {shownIncidents.map(({ id, name, status, impact, url, [LANG]: lang = null }) => (
        <li key={id}>
          <Shape tone={listedTone({ status, impact })} />
          <a dir="auto" lang={langOf(lang)} href={withLanguage(url, context.language)}>
            {name}
          </a>
          <span>
            {say(`incident.${status}`)}
            <span class="unseen">
              {t("list.separator")}
              {isEnglish ? t(`impact.${impact}`).toLowerCase() : say(`impact.${impact}`)}
            </span>
          </span>
        </li>
      ))}
      {shownMaintenance.map(({ id, name, status, scheduled_for: from, url }) => (
        <li key={id}>
          <Shape tone={listedTone({ status })} />
          <a dir="auto" href={withLanguage(url, context.language)}>
            {name}
          </a>
          <span>
            {status === "scheduled" ? (
              <ClockTime at={from} times={context.times} />
            ) : (
              say("maintenance.in_progress")
            )}
          </span>
        </li>
      ))}
      {others > 0 ? (
        <li>
          <a href={withLanguage(page.url, context.language)}>
            {say("list.more", { count: others })}
          </a>
        </li>
      ) : null}
    </ul>
  );
}

/**
 * Returns the script that shows a page's state on other sites. It contains the state, so it sends no
 * request. It names an open incident if there is only one, else it shows the headline.
 */
export function renderWidget(snapshot: Snapshot): string {
  const { document, openIncidentCount } = snapshot;
  const { page, incidents } = document;
  const words = wordsOf(page.locale);
  const tone = toneOf(document);
  const [incident] = incidents;
  const isNamed = incident !== undefined && openIncidentCount === 1;
  const state = {
    name: shorten(page.name),
    text: isNamed ? shorten(incident.name) : words.t(headlineKey(document)),
    lang: isNamed ? incident[LANG] : words.lang,
    url: withLanguage(isNamed ? incident.url : page.url, chosenLanguage(snapshot)),
    isWell: tone === "ok" || tone === "none",
    fill: TONE_FILLS[tone],
    shape: OUTLINES[tone],
  };
  // Replaced by a function, since a text may contain `$&`.
  return script.replace("STATE", () => JSON.stringify(state));
}
