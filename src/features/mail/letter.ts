import { LRUCache } from "lru-cache";
import { lazy } from "../../base/lazy";
import { renderMarkdown } from "../../base/markdown";
import {
  type Tone,
  TONE_COLOURS,
  TONE_COLOURS_IN_DARK,
  TONE_FILLS,
  TONES,
} from "../../base/status";
import { withLineFeeds } from "../../base/text";
import { isUtcZone } from "../../base/time";
import { zoneNameAt } from "../../base/zones";
import { formatLang, formatLocale } from "../../languages/tags";
import { type Words, wordsOf } from "../../languages/words";
import { encodeText, placeLine, withoutControl } from "./compose";

/**
 * Part of a line: text, or a name that people chose, which is kept apart from the direction of its line. `lang` is the
 * language of a name in another one than the words of the letter.
 */
export type Inline = string | { name: string; lang?: string | undefined };

/** Paragraph of a letter. Each is rendered as text and as HTML. */
export type Block =
  /** The first line, which names the status. */
  | { type: "status"; text: readonly Inline[]; tone: Tone }
  | { type: "title"; text: readonly Inline[] }
  | { type: "heading"; text: readonly Inline[] }
  | { type: "paragraph"; text: readonly Inline[]; isMuted?: boolean }
  /** User text. A cut text ends with a link to `url`. */
  | { type: "markdown"; source: string; url: string; lang?: string | undefined }
  | { type: "components"; entries: readonly ComponentEntry[] }
  /** The main action of the letter. */
  | { type: "button"; label: string; url: string }
  | { type: "link"; label: string; url: string }
  /** Plain text of a page, such as a legal address. */
  | { type: "plain"; source: string }
  /** Blocks that differ by recipient, filled in with `renderPlace`. */
  | { type: "place"; name: string };

export interface ComponentEntry {
  name: string;
  status: string;
  tone: Tone;
}

/** Content of a mail. */
export interface Letter {
  words: Words;
  /** Name of the page or the product, above everything else. */
  sender: string;
  /** Line that lists of mails show after the subject. */
  preheader: string;
  tone: Tone;
  blocks: readonly Block[];
  /** Blocks below the content, such as the link to unsubscribe. */
  footer: readonly Block[];
}

/** Returns a letter of the installation itself, in English. */
export function ownLetter(
  content: Pick<Letter, "preheader" | "blocks"> & Partial<Pick<Letter, "tone" | "footer">>,
): Letter {
  return { words: wordsOf("en"), sender: "Allclear", tone: "none", footer: [], ...content };
}

/** Short names of blocks that every letter has. */
export const title = (...text: Inline[]): Block => ({ type: "title", text });
export const heading = (...text: Inline[]): Block => ({ type: "heading", text });
export const paragraph = (...text: Inline[]): Block => ({ type: "paragraph", text });
export const muted = (...text: Inline[]): Block => ({ type: "paragraph", isMuted: true, text });
export const button = (label: string, url: string): Block => ({ type: "button", label, url });
export const link = (label: string, url: string): Block => ({ type: "link", label, url });

/** Returns the blocks for the footer text of a page. */
export function footerOf(footer: string | null): Block[] {
  return footer === null || footer.trim() === "" ? [] : [{ type: "plain", source: footer }];
}

/** Maximum size of both parts, in bytes as sent: 80 KB less headers and what differs by recipient. */
const PARTS_MAX_BYTES = 76_000;
/** Maximum length of the text part. The HTML part, which says the same, is at least as long. */
const TEXT_MAX = PARTS_MAX_BYTES / 2;
const LIMITS = { text: 10_000, components: 20 };

/** Content of a mail, twice. */
export interface RenderedLetter {
  text: string;
  html: string;
}

/**
 * Returns both parts of a mail. User texts have at most 10,000 code points and lists 20 components. Both
 * limits are halved until the mail has at most 80 KB.
 */
export function renderLetter(letter: Letter): RenderedLetter {
  const { words } = letter;
  for (let layout: Layout = { ...LIMITS, words }; ; layout = halved(layout)) {
    const text = renderText(letter, layout);
    // Markdown is not rendered for a letter that is too long anyway.
    if (layout.text > 0 && text.length > TEXT_MAX) continue;
    const rendered = { text, html: renderHtml(letter, layout) };
    if (layout.text === 0 || sizeOf(rendered) <= PARTS_MAX_BYTES) return rendered;
  }
}

/** Returns both forms of the blocks in a place of a letter with these words. */
export function renderPlace(blocks: readonly Block[], words: Words): RenderedLetter {
  const layout = { ...LIMITS, words };
  return { text: renderTextPlace(blocks, layout), html: renderHtmlPlace(blocks, layout) };
}

/** Words and direction of a letter, and limits of the parts whose length is not known. */
interface Layout {
  words: Words;
  /** Code points of each user text. */
  text: number;
  /** Components listed by name. */
  components: number;
}

function halved({ words, text, components }: Layout): Layout {
  return { words, text: Math.floor(text / 2), components: Math.ceil(components / 2) };
}

function sizeOf({ text, html }: RenderedLetter): number {
  return encodeText(text).quotedPrintable.length + encodeText(html).quotedPrintable.length;
}

/** Returns the entries that are listed, and the line that counts the others. */
function listedComponents(
  entries: readonly ComponentEntry[],
  { components, words }: Layout,
): { listed: readonly ComponentEntry[]; rest: string | undefined } {
  const left = entries.length - components;
  return {
    listed: entries.slice(0, components),
    rest: left > 0 ? words.t("list.more", { count: left }) : undefined,
  };
}

/** Returns the beginning of a text, ended at a line or a word if there is one close to the limit. */
function cutText(source: string, max: number): { text: string; isCut: boolean } {
  if (source.length <= max) return { text: source, isCut: false };
  // Enough UTF-16 units to see if there is one code point too many.
  const points = Array.from(source.slice(0, 2 * max + 2));
  if (points.length <= max) return { text: source, isCut: false };
  const beginning = points.slice(0, max).join("");
  const end = Math.max(beginning.lastIndexOf("\n"), beginning.lastIndexOf(" "));
  const text = end > beginning.length * 0.9 ? beginning.slice(0, end) : beginning;
  return { text: text.trimEnd(), isCut: true };
}

/** Control characters that change the direction of text. */
const OVERRIDES = /[\u202a-\u202e\u2066-\u2069]/g;

const RTL =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

const SEPARATOR = "---";

/** Returns the text part of a mail. */
function renderText(letter: Letter, layout: Layout): string {
  const render = (block: Block) => renderTextBlock(block, layout);
  return (
    [
      cleaned(letter.sender),
      ...letter.blocks.map(render),
      SEPARATOR,
      ...letter.footer.map(render),
      "",
    ]
      .join("\n\n")
      .trimEnd() + "\n"
  );
}

/** Returns lines for the place of a letter. */
function renderTextPlace(blocks: readonly Block[], layout: Layout): string {
  return blocks.map((block) => renderTextBlock(block, layout)).join("\n\n");
}

function renderTextBlock(block: Block, layout: Layout): string {
  switch (block.type) {
    case "markdown": {
      const { text, isCut } = cutText(cleaned(block.source), layout.text);
      return isCut ? `${text} …\n\n${layout.words.t("mail.read_on")}: ${block.url}` : text;
    }
    case "components": {
      const { listed, rest } = listedComponents(block.entries, layout);
      const lines = listed.map(({ name, status }) => {
        const isolated = isolate(name, layout);
        return status === "" ? `- ${isolated}` : `- ${isolated}: ${cleaned(status)}`;
      });
      return [...lines, ...(rest === undefined ? [] : [`- ${rest}`])].join("\n");
    }
    case "button":
    case "link":
      return `${block.label}: ${block.url}`;
    case "plain":
      return cleaned(block.source);
    case "place":
      return placeLine(block.name);
    default:
      return inlineText(block.text, layout);
  }
}

function inlineText(parts: readonly Inline[], layout: Layout): string {
  return parts
    .map((part) => (typeof part === "string" ? withoutOverrides(part) : isolate(part.name, layout)))
    .join("");
}

/** Keeps a name from changing the order of its line, where either is written from right to left. */
function isolate(name: string, { words }: Layout): string {
  const text = cleaned(name);
  return words.dir === "rtl" || RTL.test(text) ? `\u2068${text}\u2069` : text;
}

function cleaned(text: string): string {
  return withoutOverrides(withLineFeeds(text)).trim();
}

function withoutOverrides(text: string): string {
  return withoutControl(text).replace(OVERRIDES, "");
}

const HIDDEN =
  "display:none;max-height:0;max-width:0;overflow:hidden;opacity:0;font-size:1px;line-height:1px";

/** Returns the HTML part of a mail: inline styles, nothing from other hosts, one column up to 600 px. */
function renderHtml(letter: Letter, layout: Layout): string {
  const { words, sender, preheader, tone, blocks, footer } = letter;
  const render = (block: Block) => renderBlock(block, layout);
  // Written twice, since webmail shows the body's content without `html` and `body`.
  const language = `lang="${escape(words.lang)}" dir="${words.dir}"`;
  // Lines align to the side of the page's language, in which not all texts are written.
  const side = words.dir === "rtl" ? "right" : "left";
  return `<!doctype html>
<html ${language}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escape(sender)}</title>
<style>${DARK_RULES}</style>
</head>
<body${styled("ground", BODY_STYLE)}>
<div style="${HIDDEN}">${escape(preheader)}</div>
<div role="main" ${language}>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"><tr><td align="center"${styled("ground")}>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:600px"><tr><td align="${side}"${styled("ground", `${COLUMN_STYLE};text-align:${side}`)}>
<p dir="auto"${styled("ink", "margin:0 0 12px;font-weight:600")}><bdi>${escape(sender)}</bdi></p>
<div style="${barStyle(tone)}">&nbsp;</div>
<div${styled("line", "border-style:solid;border-width:0 1px 1px;padding:20px 20px 8px;margin:0 0 20px")}>
${blocks.map(render).join("\n")}
</div>
${footer.map(render).join("\n")}
</td></tr></table>
</td></tr></table>
</div>
</body>
</html>
`;
}

/** Returns lines for the place of a letter. */
function renderHtmlPlace(blocks: readonly Block[], layout: Layout): string {
  return blocks.map((block) => renderBlock(block, layout)).join("\n");
}

function renderBlock(block: Block, layout: Layout): string {
  switch (block.type) {
    case "status":
      return `<p dir="auto"${toned(block.tone, "margin:0 0 4px;font-size:14px;font-weight:600")}>${inlineHtml(block.text)}</p>`;
    case "title":
      return `<h1 dir="auto"${styled("ink", "margin:0 0 4px;font-size:22px;line-height:1.3;font-weight:650")}>${inlineHtml(block.text)}</h1>`;
    case "heading":
      return `<h2 dir="auto"${styled("ink", "margin:20px 0 8px;font-size:16px;line-height:1.3")}>${inlineHtml(block.text)}</h2>`;
    case "paragraph":
      return `<p dir="auto"${block.isMuted ? styled("muted", "margin:0 0 12px;font-size:14px") : styled("ink", "margin:0 0 12px")}>${inlineHtml(block.text)}</p>`;
    case "markdown":
      return markdownHtml(block, layout);
    case "components":
      return componentsHtml(block, layout);
    case "button":
      return `<p style="margin:16px 0"><a href="${escape(block.url)}"${styled("button", "display:inline-block;padding:10px 18px;border-radius:8px;text-decoration:none;font-weight:600")}>${escape(block.label)}</a></p>`;
    case "link":
      return `<p dir="auto" style="margin:0 0 12px;font-size:14px">${linkHtml(block.label, block.url)}</p>`;
    case "plain":
      return `<p dir="auto"${styled("muted", "margin:0 0 12px;font-size:13px")}>${escape(withLineFeeds(block.source)).replaceAll("\n", "<br>\n")}</p>`;
    case "place":
      return placeLine(block.name);
  }
}

function markdownHtml(
  { source, url, lang }: Extract<Block, { type: "markdown" }>,
  layout: Layout,
): string {
  const { text, isCut } = cutText(withoutControl(source), layout.text);
  const html = styleMarkdown(
    renderMarkdown(isCut ? `${text} …` : text, { topHeading: 2 }),
  ).trimEnd();
  const rest = isCut
    ? `\n<p dir="auto" style="margin:0 0 12px">${linkHtml(layout.words.t("mail.read_on"), url)}</p>`
    : "";
  return `<div${langAttribute(lang)}${styled("ink", "margin:16px 0 4px;text-align:start")}>\n${html}${rest}\n</div>`;
}

function componentsHtml(
  { entries }: Extract<Block, { type: "components" }>,
  layout: Layout,
): string {
  const { listed, rest } = listedComponents(entries, layout);
  const rows = listed.map(({ name, status, tone }) => {
    const cell = "padding:6px 0;border-style:solid;border-width:1px 0 0;font-size:15px";
    const state =
      status === ""
        ? ""
        : `<td align="${layout.words.dir === "rtl" ? "left" : "right"}"${styled("line", `${cell};padding-inline-start:12px;white-space:nowrap`)}><span${toned(tone, "font-weight:600")}>${escape(status)}</span></td>`;
    return `<tr><td${styled("line", cell)}><span${styled("ink")}><bdi>${escape(name)}</bdi></span></td>${state}</tr>`;
  });
  const more =
    rest === undefined
      ? ""
      : `<p${styled("muted", "margin:4px 0 12px;font-size:14px")}>${escape(rest)}</p>\n`;
  return `<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 12px;border-collapse:collapse">\n${rows.join("\n")}\n</table>\n${more}`.trimEnd();
}

function linkHtml(label: string, url: string): string {
  return `<a href="${escape(url)}"${styled("accent", "text-decoration:underline")}>${escape(label)}</a>`;
}

function inlineHtml(parts: readonly Inline[]): string {
  return parts
    .map((part) =>
      typeof part === "string"
        ? escape(part)
        : `<bdi${langAttribute(part.lang)}>${escape(part.name)}</bdi>`,
    )
    .join("");
}

function langAttribute(lang: string | undefined): string {
  return lang === undefined ? "" : ` lang="${escape(lang)}"`;
}

function escape(text: string): string {
  return Bun.escapeHTML(withoutControl(text).replace(OVERRIDES, ""));
}

/** Properties of an element in the light theme, and those of the dark theme in their place. */
interface Look {
  light: string;
  dark: string;
}

const FONT =
  "font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";

/** Looks by class. Colours have 4.5 : 1 on white in the light theme and on #121212 in the dark one. */
const LOOKS = {
  ground: {
    light: "background-color:#ffffff;color:#101a16",
    dark: "background-color:#121212;color:#eaf0ed",
  },
  ink: { light: "color:#101a16", dark: "color:#eaf0ed" },
  muted: { light: "color:#56645d", dark: "color:#98a69f" },
  accent: { light: "color:#0a6650", dark: "color:#5ecdaa" },
  button: {
    light: "background-color:#0a6650;color:#ffffff",
    dark: "background-color:#5ecdaa;color:#07130f",
  },
  line: { light: "border-color:#e1e7e2", dark: "border-color:#3a4540" },
  code: {
    light: "background-color:#f0f3f0;color:#101a16",
    dark: "background-color:#242c28;color:#eaf0ed",
  },
  ...(Object.fromEntries(
    TONES.map((tone) => [
      `t-${tone}`,
      { light: `color:${TONE_COLOURS[tone]}`, dark: `color:${TONE_COLOURS_IN_DARK[tone]}` },
    ]),
  ) as Record<`t-${Tone}`, Look>),
} satisfies Record<string, Look>;

type LookName = keyof typeof LOOKS;

/** Rules for the dark theme. Programs that ignore them show the light one or change colours themselves. */
const DARK_RULES = `:root{color-scheme:light dark;supported-color-schemes:light dark}@media (prefers-color-scheme:dark){${Object.entries(
  LOOKS,
)
  .map(([name, { dark }]) => `.${name}{${dark.replaceAll(/(?=;)|$/g, "!important")}}`)
  .join("")}}`;

/** Returns the attributes of an element with a look and more properties. */
function styled(look: LookName, properties = ""): string {
  const style = [LOOKS[look].light, properties].filter((part) => part !== "").join(";");
  return ` class="${look}" style="${style}"`;
}

/** Returns the attributes of an element whose text has the tone's colour. */
function toned(tone: Tone, properties = ""): string {
  return styled(`t-${tone}`, properties);
}

/** Returns the properties of a bar in the tone's colour. */
function barStyle(tone: Tone): string {
  return `height:4px;line-height:4px;font-size:0;background-color:${TONE_FILLS[tone]}`;
}

const BODY_STYLE = `margin:0;padding:0;${FONT};font-size:16px;line-height:1.5`;

const COLUMN_STYLE = `max-width:600px;margin:0 auto;padding:24px 16px;${FONT};font-size:16px;line-height:1.5;overflow-wrap:anywhere`;

/** Styles of the elements of user texts, by tag. */
const TEXT_ELEMENTS: Readonly<Record<string, string>> = {
  p: ' style="margin:0 0 12px"',
  ul: ' style="margin:0 0 12px;padding:0"',
  ol: ' style="margin:0 0 12px;padding:0"',
  li: ' style="margin:0 0 4px;margin-inline-start:24px"',
  blockquote: styled(
    "line",
    "margin:0 0 12px;padding-inline-start:12px;border-style:solid;border-width:0;border-inline-start-width:3px",
  ),
  pre: styled(
    "code",
    "margin:0 0 12px;padding:12px;border-radius:8px;white-space:pre-wrap;font-size:14px",
  ),
  code: styled("code", "font-family:ui-monospace,Menlo,Consolas,monospace;font-size:14px"),
  hr: styled("line", "border-style:solid;border-width:1px 0 0;margin:16px 0"),
  a: styled("accent", "text-decoration:underline"),
  h2: ' style="margin:16px 0 8px;font-size:18px;line-height:1.3"',
  h3: ' style="margin:16px 0 8px;font-size:17px;line-height:1.3"',
  h4: ' style="margin:16px 0 8px;font-size:16px;line-height:1.3"',
  h5: ' style="margin:16px 0 8px;font-size:16px;line-height:1.3"',
  h6: ' style="margin:16px 0 8px;font-size:16px;line-height:1.3"',
};

const TAG = /<([a-z][a-z0-9]*)(?=[ >])(?: class="[^"]*")?/g;

/** Adds styles to the elements of rendered Markdown, which contains `<` only in tags. */
function styleMarkdown(html: string): string {
  return html.replaceAll(TAG, (_, tag: string) => `<${tag}${TEXT_ELEMENTS[tag] ?? ""}`);
}

/** Formatters of times in the language and the time zone of a page. */
export interface Moments {
  /** Language of the formats, from `formatLang`. */
  lang: string | undefined;
  /** "22 Nov 2026, 15:32 CET (UTC+1)". */
  moment(ms: number): string;
  /** "22 Nov 2026, 15:32 – 17:00 CET (UTC+1)". */
  range(fromMs: number, untilMs: number): string;
  /** "22 Nov 2026, 15:32 CET", for subjects. */
  short(ms: number): string;
}

const FULL = {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "numeric",
  minute: "2-digit",
} as const;

/** Number of languages and time zones whose formats are kept. */
const MOMENTS_MAX = 100;

const keptMoments = lazy(() => new LRUCache<string, Moments>({ max: MOMENTS_MAX }));

/** Returns the formats of times for a page. To make one takes many times as long as to use it. */
export function momentsOf(page: { locale: string; timeZone: string }): Moments {
  const key = `${page.locale} ${page.timeZone}`;
  let moments = keptMoments().get(key);
  if (!moments) keptMoments().set(key, (moments = createMoments(page)));
  return moments;
}

function createMoments(page: { locale: string; timeZone: string }): Moments {
  const locale = formatLocale(page.locale);
  const timeZone = isUtcZone(page.timeZone) ? "UTC" : page.timeZone;
  const full = new Intl.DateTimeFormat(locale, { ...FULL, timeZone });

  const zoneAt = (ms: number) => zoneNameAt(ms, timeZone, locale);

  function withZone(text: string, ms: number): string {
    const { name, offset } = zoneAt(ms);
    return name === undefined ? `${text} ${offset}` : `${text} ${name} (${offset})`;
  }

  return {
    lang: formatLang(page.locale),
    moment: (ms) => withZone(full.format(ms), ms),
    range: (fromMs, untilMs) => withZone(full.formatRange(fromMs, untilMs), fromMs),
    short(ms) {
      const { name, offset } = zoneAt(ms);
      return `${full.format(ms)} ${name ?? offset}`;
    },
  };
}
