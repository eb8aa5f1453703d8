import type { MarkdownIt, Token } from "markdown-it";
import { whenAsked } from "../kernel/when-asked";

const LINK_SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);
/** What other sites are told of a link that somebody wrote here, and what they learn of the reader. */
const LINK_REL = "nofollow noopener ugc";
/** Marks that reorder the text around them. Right-to-left text does not need them. */
const OVERRIDES = /[\u202a-\u202e\u2066-\u2069]/g;

// Loaded and made when a text is first rendered, not while the server starts.
const linking = whenAsked(() => createRenderer({ linkify: true }));
const plain = whenAsked(() => createRenderer({ linkify: false }));
/** Looking for addresses takes time that grows with the square of a run without a space. */
const RUN_TOO_LONG = /\S{2000}/;

/** Addresses become links by themselves, unless looking for them would hold everybody up. */
function rendererFor(text: string): MarkdownIt {
  return RUN_TOO_LONG.test(text) ? plain() : linking();
}

interface Place {
  /** The level that the highest of the text's own headings gets. */
  topHeading?: number;
}

/**
 * What people wrote, as HTML that is safe to put into a page: no HTML of theirs passes, links lead to
 * http, https and mailto only, and images become links, so that reading a page asks no other host for
 * anything. Headings are lowered to where the text stands, and skip no level.
 */
export function renderMarkdown(source: string, { topHeading = 3 }: Place = {}): string {
  const text = source.replace(OVERRIDES, "");
  return rendererFor(text).render(text, { topHeading } satisfies Required<Place>);
}

/** How much of a text is looked through for each of the characters that are wanted of it. */
const LOOKED_THROUGH = 10;

/**
 * The beginning in plain words on one line, for where there is no room for more; cut at `maxLength`
 * code points. A long text is not read to its end for that.
 */
export function plainText(source: string, maxLength: number): string {
  const text = source.slice(0, LOOKED_THROUGH * maxLength + 1_000).replace(OVERRIDES, "");
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
  });
  return markdown;

  function renderImage(tokens: Token[], index: number): string {
    const image = tokens[index];
    const href = String(image?.attrGet("src") ?? "");
    const text = markdown.utils.escapeHtml(image?.content.trim() || href);
    if (isInLink(tokens, index)) return text;
    return `<a href="${markdown.utils.escapeHtml(href)}" rel="${LINK_REL}">${text}</a>`;
  }
}

function isAllowedLink(url: string): boolean {
  const parsed = URL.parse(url);
  if (!parsed || !LINK_SCHEMES.has(parsed.protocol)) return false;
  // "https://bank.example@elsewhere.example" reads as one site and leads to another.
  return parsed.username === "" && parsed.password === "";
}

function isInLink(tokens: readonly Token[], index: number): boolean {
  const before = tokens.slice(0, index).filter(({ type }) => /^link_(?:open|close)$/.test(type));
  return before.at(-1)?.type === "link_open";
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
