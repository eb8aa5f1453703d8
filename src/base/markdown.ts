import type { MarkdownIt, Token } from "markdown-it";
import { lazy } from "./lazy";
import { withLineFeeds } from "./text";
import { hasUserInfo } from "./web-url";

const LINK_SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);
/** `rel` of links in user text: no endorsement, no referrer, no access to the window. */
const LINK_REL = "nofollow noopener ugc";
/** Control characters that change the direction of text. Right-to-left text does not need them. */
const OVERRIDES = /[\u202a-\u202e\u2066-\u2069]/g;

// The library is loaded when a text is first rendered, not at the start of the server.
const linking = lazy(() => createRenderer({ linkify: true }));
const plain = lazy(() => createRenderer({ linkify: false }));
/** Text without a space that is too long for finding addresses, which takes quadratic time. */
const RUN_TOO_LONG = /\S{2000}/;

/** Returns the renderer that turns addresses into links, unless finding them would take too long. */
function rendererFor(text: string): MarkdownIt {
  return RUN_TOO_LONG.test(text) ? plain() : linking();
}

/** Work of rendering a character by its code, in units of about 4 µs. Other characters need almost none. */
const WORK_BY_CODE = new Uint8Array(128);
for (const character of "]()!<>`~_&/#") WORK_BY_CODE[character.charCodeAt(0)] = 1;
for (const character of "[*") WORK_BY_CODE[character.charCodeAt(0)] = 2;
WORK_BY_CODE["\n".charCodeAt(0)] = 3;
/** Start of an address. Each needs `ADDRESS_WORK` units in addition to its characters. */
const ADDRESS = /:\/\/|mailto:/gi;
const ADDRESS_WORK = 6;
/** Maximum work of one text, which 1,000 links need. Usual texts need far less. */
const TEXT_WORK_MAX = 12_000;

/** Returns the work of rendering a text in units of about 4 µs. A text over the maximum needs none. */
export function renderingWork(text: string): number {
  const work = workOf(withLineFeeds(text));
  return work > TEXT_WORK_MAX ? 0 : work;
}

function workOf(text: string): number {
  let work = ADDRESS_WORK * (text.match(ADDRESS)?.length ?? 0);
  for (let index = 0; index < text.length; index++) {
    work += WORK_BY_CODE[text.charCodeAt(index)] ?? 0;
  }
  return work;
}

interface MarkdownOptions {
  /** Level of the highest heading. */
  topHeading?: number;
}

/**
 * Renders user text as safe HTML. Raw HTML is escaped, links lead only to http, https and mailto, and
 * images become links, so that a page loads nothing from other hosts. Headings start at `topHeading` and
 * skip no level. Every line break of the source is one of the HTML. Each paragraph has its own direction, and code runs
 * from left to right. A text over the maximum work is shown as plain text.
 */
export function renderMarkdown(source: string, { topHeading = 3 }: MarkdownOptions = {}): string {
  const text = withLineFeeds(source).replace(OVERRIDES, "");
  if (workOf(text) > TEXT_WORK_MAX) return plainParagraphs(text);
  return rendererFor(text).render(text, { topHeading } satisfies Required<MarkdownOptions>);
}

/** Returns a text as HTML paragraphs, without Markdown. */
function plainParagraphs(text: string): string {
  const paragraphs = text.split(/\n{2,}/);
  return paragraphs
    .map(
      (paragraph) => `<p dir="auto">${Bun.escapeHTML(paragraph).replaceAll("\n", "<br>\n")}</p>\n`,
    )
    .join("");
}

/** Number of source characters read for each character of an excerpt. */
const EXCERPT_FACTOR = 10;

/**
 * Returns the start of a text in plain words on one line, cut at `maxLength` code points. Of a long text,
 * only the start is parsed.
 */
export function plainText(source: string, maxLength: number): string {
  const text = withLineFeeds(beginningOf(source, maxLength)).replace(OVERRIDES, "");
  const words = rendererFor(text)
    .parse(text, { topHeading: 1 })
    .flatMap((token) => [...(token.children ?? [token]).map(textOf), " "])
    .join("")
    .replace(/\s+/g, " ")
    .trim();
  // Enough UTF-16 units to see if there is one code point too many.
  const points = Array.from(words.slice(0, 2 * maxLength + 2));
  return points.length <= maxLength ? words : `${points.slice(0, maxLength).join("").trimEnd()}…`;
}

/** Returns the part of a text that is parsed for an excerpt. */
export function beginningOf(source: string, maxLength: number): string {
  return source.slice(0, EXCERPT_FACTOR * maxLength + 1_000);
}

function textOf({ type, content }: Token): string {
  if (/^(?:text|code_inline|image|code_block|fence)$/.test(type)) return content;
  return type.endsWith("break") ? " " : "";
}

function createRenderer({ linkify }: { linkify: boolean }): MarkdownIt {
  const createMarkdown = require("markdown-it") as typeof import("markdown-it").default;
  const markdown = createMarkdown({ html: false, linkify, breaks: true });
  // Short rows below a wide head would make HTML of seventy times the size of the text.
  markdown.disable("table");
  // Only addresses with a scheme become links, so that `release.sh` does not.
  markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
  markdown.validateLink = isAllowedLink;
  markdown.renderer.rules.link_open = (tokens, index, options, _env, renderer) => {
    tokens[index]?.attrSet("rel", LINK_REL);
    return renderer.renderToken(tokens, index, options);
  };
  markdown.renderer.rules.image = renderImage;
  for (const name of ["fence", "code_block"] as const) {
    const render = markdown.renderer.rules[name];
    markdown.renderer.rules[name] = (...given) =>
      render?.(...given).replace("<pre>", '<pre dir="ltr">') ?? "";
  }
  markdown.core.ruler.push("lower headings", ({ tokens, env }) => {
    lowerHeadings(tokens, (env as Required<MarkdownOptions>).topHeading);
    findDirections(tokens);
    for (const { children } of tokens) findLinkedImages(children ?? []);
  });
  return markdown;

  function renderImage(tokens: Token[], index: number): string {
    const image = tokens[index];
    const href = String(image?.attrGet("src") ?? "");
    const text = markdown.utils.escapeHtml(image?.content.trim() || href);
    if ((image?.meta as { isInLink: boolean } | null)?.isInLink) return text;
    return `<a href="${markdown.utils.escapeHtml(href)}" rel="${LINK_REL}">${text}</a>`;
  }
}

function isAllowedLink(url: string): boolean {
  const parsed = URL.parse(url);
  if (!parsed || !LINK_SCHEMES.has(parsed.protocol)) return false;
  return !hasUserInfo(parsed);
}

/** Marks the images inside links in one pass, since searching back from each would take quadratic time. */
function findLinkedImages(tokens: readonly Token[]): void {
  let isInLink = false;
  for (const token of tokens) {
    if (token.type === "link_open") isInLink = true;
    else if (token.type === "link_close") isInLink = false;
    else if (token.type === "image") token.meta = { isInLink };
  }
}

/**
 * Lets the first strong character of each paragraph, heading and list item decide its direction. The first paragraph of
 * an item leaves this to the item, whose marker would otherwise stand on the wrong side.
 */
function findDirections(tokens: readonly Token[]): void {
  for (const [index, token] of tokens.entries()) {
    const { type } = token;
    const isOwn = type === "paragraph_open" && tokens[index - 1]?.type !== "list_item_open";
    if (isOwn || type === "heading_open" || type === "list_item_open") token.attrSet("dir", "auto");
  }
}

/** Lowers headings to `top` and below. Each is at most one level below the one before, and at most h6. */
function lowerHeadings(tokens: readonly Token[], top: number): void {
  let before = top - 1;
  for (const token of tokens) {
    if (!token.type.startsWith("heading_")) continue;
    if (token.type === "heading_open") {
      const own = top + Number(token.tag.slice(1)) - 1;
      before = Math.min(own, before + 1, 6);
    }
    token.tag = `h${before}`;
  }
}
