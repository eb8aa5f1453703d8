import type { MarkdownIt, Token } from "markdown-it";
import { lazy } from "../kernel/lazy";

const LINK_SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);
/** `rel` of links in user text: no endorsement, no referrer, no access to the window. */
const LINK_REL = "nofollow noopener ugc";
/** Marks that reorder the text around them. Right-to-left text does not need them. */
const OVERRIDES = /[\u202a-\u202e\u2066-\u2069]/g;

// Loaded and made when a text is first rendered, not while the server starts.
const linking = lazy(() => createRenderer({ linkify: true }));
const plain = lazy(() => createRenderer({ linkify: false }));
/** Looking for addresses takes time that grows with the square of a run without a space. */
const RUN_TOO_LONG = /\S{2000}/;

/** Addresses become links by themselves, unless looking for them would hold everybody up. */
function rendererFor(text: string): MarkdownIt {
  return RUN_TOO_LONG.test(text) ? plain() : linking();
}

/** Characters that cost time to render, by their code: about 4 µs a unit. All others cost next to none. */
const WORK_BY_CODE = new Uint8Array(128);
for (const character of "]()!<>`~_&/#") WORK_BY_CODE[character.charCodeAt(0)] = 1;
for (const character of "[*") WORK_BY_CODE[character.charCodeAt(0)] = 2;
WORK_BY_CODE["\n".charCodeAt(0)] = 3;
/** Texts that look like addresses: each costs `ADDRESS_WORK` units more than its characters. */
const ADDRESS = /:\/\/|mailto:/gi;
const ADDRESS_WORK = 6;
/** The most that one text may cost. What people write stays far below it: 1,000 links cost as much. */
const TEXT_WORK_MAX = 12_000;

/** Returns the cost of rendering a text, in units of about 4 µs; 0 for a text that is shown as written. */
export function renderingWork(text: string): number {
  const work = workOf(text);
  return work > TEXT_WORK_MAX ? 0 : work;
}

function workOf(text: string): number {
  let work = ADDRESS_WORK * (text.match(ADDRESS)?.length ?? 0);
  for (let index = 0; index < text.length; index++) {
    work += WORK_BY_CODE[text.charCodeAt(index)] ?? 0;
  }
  return work;
}

interface Place {
  /** The level that the highest of the text's own headings gets. */
  topHeading?: number;
}

/**
 * Renders user text as safe HTML: raw HTML is escaped, links lead to http, https and mailto only,
 * and images become links, so that a page loads nothing from other hosts. Headings are lowered to
 * the level of the place and skip no level. * A text that is too expensive to render is shown as it
 * was written.
 */
export function renderMarkdown(source: string, { topHeading = 3 }: Place = {}): string {
  const text = source.replace(OVERRIDES, "");
  if (workOf(text) > TEXT_WORK_MAX) return asWritten(text);
  return rendererFor(text).render(text, { topHeading } satisfies Required<Place>);
}

function asWritten(text: string): string {
  const paragraphs = text.replace(/\r\n?/g, "\n").split(/\n{2,}/);
  return paragraphs
    .map((paragraph) => `<p>${Bun.escapeHTML(paragraph).replaceAll("\n", "<br>\n")}</p>\n`)
    .join("");
}

/** Number of characters read of a text per character of an excerpt. */
const LOOKED_THROUGH = 10;

/**
 * The beginning in plain words on one line, for where there is no room for more; cut at `maxLength`
 * code points. A long text is not read to its end for that.
 */
export function plainText(source: string, maxLength: number): string {
  const text = beginningOf(source, maxLength).replace(OVERRIDES, "");
  const words = rendererFor(text)
    .parse(text, { topHeading: 1 })
    .flatMap((token) => [...(token.children ?? [token]).map(textOf), " "])
    .join("")
    .replace(/\s+/g, " ")
    .trim();
  // One more than there is room for, at two units each.
  const points = Array.from(words.slice(0, 2 * maxLength + 2));
  return points.length <= maxLength ? words : `${points.slice(0, maxLength).join("").trimEnd()}…`;
}

/** Returns the part of a text that is read for its first words. */
export function beginningOf(source: string, maxLength: number): string {
  return source.slice(0, LOOKED_THROUGH * maxLength + 1_000);
}

function textOf({ type, content }: Token): string {
  if (/^(?:text|code_inline|image|code_block|fence)$/.test(type)) return content;
  return type.endsWith("break") ? " " : "";
}

function createRenderer({ linkify }: { linkify: boolean }): MarkdownIt {
  const createMarkdown = require("markdown-it") as typeof import("markdown-it").default;
  const markdown = createMarkdown({ html: false, linkify, breaks: true });
  // A few characters a row would make a cell for each column of a wide head: seventy times the text.
  markdown.disable("table");
  // Only what says where it leads: a file name such as `release.sh` is no link.
  markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
  markdown.validateLink = isAllowedLink;
  markdown.renderer.rules.link_open = (tokens, index, options, _env, renderer) => {
    tokens[index]?.attrSet("rel", LINK_REL);
    return renderer.renderToken(tokens, index, options);
  };
  markdown.renderer.rules.image = renderImage;
  markdown.core.ruler.push("lower headings", ({ tokens, env }) => {
    lowerHeadings(tokens, (env as Required<Place>).topHeading);
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
  // "https://bank.example@elsewhere.example" reads as one site and leads to another.
  return parsed.username === "" && parsed.password === "";
}

/** Marks the images within links: looking back from each image takes time that grows with their square. */
function findLinkedImages(tokens: readonly Token[]): void {
  let isInLink = false;
  for (const token of tokens) {
    if (token.type === "link_open") isInLink = true;
    else if (token.type === "link_close") isInLink = false;
    else if (token.type === "image") token.meta = { isInLink };
  }
}

/** `#` becomes the top level, whatever follows at most one below what stands before it, and h6 the last. */
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
