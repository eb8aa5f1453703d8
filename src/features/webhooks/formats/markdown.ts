import type { MarkdownIt, Token } from "markdown-it";
import { lazy } from "../../../base/lazy";
import { mailAddress, webAddress, clean } from "./clean";
import type { Block, Span, Style } from "./blocks";

// Loaded with the first text, not while the server starts. Finding addresses takes time that grows
// with the square of a run without spaces, so it is left out for texts with long runs.
const linking = lazy(() => createReader(true));
const plain = lazy(() => createReader(false));
const RUN_TOO_LONG = /\S{2000}/;

const STYLES: Readonly<Record<string, Style>> = { strong: "bold", em: "italic", s: "strike" };

/**
 * Reads Markdown. HTML stays text. A link becomes its text followed by its address, unless both are
 * the same; links to other schemes than web and mail stay as they were written. Images become
 * links, since loading them would reveal readers to their host.
 */
export function readMarkdown(source: string): Block[] {
  const text = clean(source);
  const reader = RUN_TOO_LONG.test(text) ? plain() : linking();
  return new Walk().read(reader.parse(text, {}));
}

function createReader(linkify: boolean): MarkdownIt {
  const createMarkdown = require("markdown-it") as typeof import("markdown-it").default;
  const markdown = createMarkdown({ html: false, linkify });
  // No service shows tables in all of its clients, and a short text can make very many cells.
  markdown.disable("table");
  // Only addresses with a scheme become links, not file names such as `release.sh`.
  markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
  markdown.validateLink = (url) => (webAddress(url) ?? mailAddress(url)) !== undefined;
  return markdown;
}

/** Converts the tokens of a text in one pass. */
class Walk {
  readonly #blocks: Block[] = [];
  /** Returns the marker of the next entry, for each enclosing list. */
  readonly #lists: { marker: () => string }[] = [];
  #marker = "";
  #quotes = 0;
  #kind: Block["kind"] = "paragraph";

  read(tokens: readonly Token[]): Block[] {
    for (const token of tokens) this.#take(token);
    return this.#blocks;
  }

  #take(token: Token): void {
    switch (token.type) {
      case "bullet_list_open":
        this.#lists.push({ marker: () => "•" });
        return;
      case "ordered_list_open": {
        let number = Number(token.attrGet("start") ?? 1);
        this.#lists.push({ marker: () => `${number++}.` });
        return;
      }
      case "bullet_list_close":
      case "ordered_list_close":
        this.#lists.pop();
        return;
      case "list_item_open":
        this.#marker = this.#lists.at(-1)?.marker() ?? "";
        return;
      case "list_item_close":
        // The marker of an empty entry was not used.
        this.#marker = "";
        return;
      case "blockquote_open":
        this.#quotes += 1;
        return;
      case "blockquote_close":
        this.#quotes -= 1;
        return;
      case "heading_open":
        this.#kind = "heading";
        return;
      case "paragraph_open":
        this.#kind = "paragraph";
        return;
      case "inline":
        this.#add(this.#kind, readSpans(token.children ?? []));
        return;
      case "fence":
      case "code_block":
        this.#add("code", [{ text: token.content.replace(/\n$/, ""), styles: [] }]);
        return;
      case "hr":
        this.#add("rule", []);
    }
  }

  #add(kind: Block["kind"], spans: readonly Span[]): void {
    if (spans.length === 0 && kind !== "rule") return;
    const marker = this.#marker;
    this.#marker = "";
    this.#blocks.push({
      kind,
      marker,
      depth: this.#lists.length,
      isQuoted: this.#quotes > 0,
      spans,
    });
  }
}

function readSpans(tokens: readonly Token[]): Span[] {
  const spans: Span[] = [];
  const styles: Style[] = [];
  // Content of the open link; links do not nest.
  let link: { opening: Token; spans: Span[] } | undefined;
  for (const token of tokens) {
    const into = link?.spans ?? spans;
    const style = STYLES[token.tag];
    if (style && token.nesting === 1) styles.push(style);
    else if (style && token.nesting === -1) styles.splice(styles.lastIndexOf(style), 1);
    else if (token.type === "link_open") link = { opening: token, spans: [] };
    else if (token.type === "link_close") {
      if (link) append(spans, ...linkSpans(link.opening, "href", link.spans));
      link = undefined;
    } else if (token.type === "image") {
      const name: Span = { text: token.content, styles: [...styles] };
      append(into, ...(link ? [name] : linkSpans(token, "src", [name])));
    } else if (token.type === "code_inline") {
      append(into, { text: token.content, styles: [...styles, "code"] });
    } else {
      const text = token.type.endsWith("break") ? "\n" : token.content;
      append(into, { text, styles: [...styles] });
    }
  }
  return spans;
}

/**
 * Returns the text of a link followed by its address, or the address alone if both are the same.
 */
function linkSpans(token: Token, attribute: "href" | "src", inner: readonly Span[]): Span[] {
  const href = String(token.attrGet(attribute) ?? "");
  const address = webAddress(href);
  const mail = mailAddress(href);
  const shown: Span = address
    ? { text: address, styles: [], href: address }
    : { text: clean(mail ?? ""), styles: [] };
  const text = inner.map((span) => span.text).join("");
  const isAutomatic = token.markup === "linkify" || token.markup === "autolink";
  if (isAutomatic || [href, address, mail, ""].includes(text.trim())) return [shown];
  return [...inner, { text: " (", styles: [] }, shown, { text: ")", styles: [] }];
}

/** Adds spans, merging neighbours of the same style. */
function append(spans: Span[], ...added: readonly Span[]): void {
  for (const span of added) {
    const last = spans.at(-1);
    const canJoin = last !== undefined && last.href === undefined && span.href === undefined;
    if (span.text === "") continue;
    if (canJoin && last.styles.join() === span.styles.join()) {
      spans[spans.length - 1] = { ...last, text: last.text + span.text };
    } else spans.push(span);
  }
}
