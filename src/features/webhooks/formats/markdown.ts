import type { MarkdownIt, Token } from "markdown-it";
import { lazy } from "../../../kernel/lazy";
import { mailAddress, webAddress, clean } from "./clean";
import type { Block, Span, Style } from "./blocks";

// Loaded and made when a text is first read, not while the server starts. Looking for addresses takes time that grows with the square of a run
// without a space, so it is left out where a run is long.
const linking = lazy(() => createReader(true));
const plain = lazy(() => createReader(false));
const RUN_TOO_LONG = /\S{2000}/;

const STYLES: Readonly<Record<string, Style>> = { strong: "bold", em: "italic", s: "strike" };

/**
 * Reads Markdown. HTML stays text. A link is its text and, behind it, where it leads, unless the text
 * says just that; a link that leads elsewhere than to the web or a mailbox stays as it was written.
 * Pictures become links: to fetch them would tell their host who reads.
 */
export function readMarkdown(source: string): Block[] {
  const text = clean(source);
  const reader = RUN_TOO_LONG.test(text) ? plain() : linking();
  return new Walk().read(reader.parse(text, {}));
}

function createReader(linkify: boolean): MarkdownIt {
  const createMarkdown = require("markdown-it") as typeof import("markdown-it").default;
  const markdown = createMarkdown({ html: false, linkify });
  // No service has tables in all of its clients, and a few characters a row make very many cells.
  markdown.disable("table");
  // Only what says where it leads: a file name such as `release.sh` is no link.
  markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
  markdown.validateLink = (url) => (webAddress(url) ?? mailAddress(url)) !== undefined;
  return markdown;
}

/** One pass over the tokens of a text. */
class Walk {
  readonly #blocks: Block[] = [];
  /** For each list that it stands in: what marks the next entry. */
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
        // An entry without a word has no block that took its marker.
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
  // What stands in the link that is open; links do not nest.
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

/** The text of a link and, behind it, where it leads; the address alone where the text says no more. */
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

/** Adds spans, joining what is styled alike, so that a style is opened once. */
function append(spans: Span[], ...added: readonly Span[]): void {
  for (const span of added) {
    const last = spans.at(-1);
    const mayJoin = last !== undefined && last.href === undefined && span.href === undefined;
    if (span.text === "") continue;
    if (mayJoin && last.styles.join() === span.styles.join()) {
      spans[spans.length - 1] = { ...last, text: last.text + span.text };
    } else spans.push(span);
  }
}
