/*
 * A text as blocks of spans, without markup. Markdown is read into blocks, blocks can be cut
 * anywhere, and each format writes them in its own markup.
 */
import type { MarkdownIt, Token } from "markdown-it";
import { lazy } from "../../../base/lazy";
import { withLineFeeds } from "../../../base/text";
import { hasUserInfo, parseWebUrl } from "../../../base/web-url";

type Style = "bold" | "italic" | "strike" | "code";

export interface Span {
  /** Clean text, which may contain line feeds; for a link its address. */
  text: string;
  styles: readonly Style[];
  /** Address of a link. `text` is the same, so that a link shows where it leads. */
  href?: string;
}

export interface Block {
  kind: "paragraph" | "heading" | "code" | "rule";
  /** Marker of a list entry: "•" or "3."; empty outside lists. */
  marker: string;
  /** Number of lists around it. */
  depth: number;
  isQuoted: boolean;
  spans: readonly Span[];
}

const ELLIPSIS_SPAN: Span = { text: "…", styles: [] };

/** Returns a paragraph of spans; plain texts are cleaned. */
export function paragraph(...parts: (string | Span)[]): Block {
  return { kind: "paragraph", marker: "", depth: 0, isQuoted: false, spans: parts.map(toSpan) };
}

/** Returns an entry of a list. */
export function entry(...parts: (string | Span)[]): Block {
  return { ...paragraph(...parts), marker: "•", depth: 1 };
}

export function bold(text: string): Span {
  return { text: clean(text), styles: ["bold"] };
}

function toSpan(part: string | Span): Span {
  return typeof part === "string" ? { text: clean(part), styles: [] } : part;
}

/**
 * Writes as much of the blocks as fits, cut between characters and never within an address, with an
 * ellipsis for the missing part. If `fits` accepts an output, it must accept the output of fewer
 * characters.
 */
export function fitted<T>(
  blocks: readonly Block[],
  write: (blocks: readonly Block[]) => T,
  fits: (written: T) => boolean,
): T {
  const whole = write(blocks);
  if (fits(whole)) return whole;
  const beginning = (length: number) => write(beginningOf(blocks, length));
  return beginning(largestCount(lengthOf(blocks), (length) => fits(beginning(length))));
}

/** Parts of a message in their order. */
interface MessageParts {
  facts: readonly Block[];
  body: readonly Block[];
  components: readonly Block[];
}

/**
 * Writes as much of a message as fits. The body is cut first, then the list of components, whose names can grow when
 * they are escaped, then the facts.
 */
export function fittedMessage<T>(
  { facts, body, components }: MessageParts,
  write: (blocks: readonly Block[]) => T,
  fits: (written: T) => boolean,
): T {
  const cuts = [
    () => fitted(body, (part) => write([...facts, ...part, ...components]), fits),
    () => fitted(components, (part) => write([...facts, ...part]), fits),
  ];
  for (const cut of cuts) {
    const written = cut();
    if (fits(written)) return written;
  }
  return fitted(facts, write, fits);
}

function lengthOf(blocks: readonly Block[]): number {
  let length = 0;
  for (const { spans } of blocks) for (const { text } of spans) length += text.length;
  return length;
}

/** Returns the first `length` UTF-16 units of the blocks, with an ellipsis; nothing for 0. */
function beginningOf(blocks: readonly Block[], length: number): Block[] {
  let left = length;
  const kept: Block[] = [];
  for (const block of blocks) {
    if (left <= 0) break;
    const spans: Span[] = [];
    for (const span of block.spans) {
      if (left >= span.text.length) spans.push(span);
      else if (span.href === undefined) spans.push({ ...span, text: span.text.slice(0, left) });
      left -= span.text.length;
      if (left <= 0) break;
    }
    kept.push({ ...block, spans });
  }
  const last = kept.pop();
  return last ? [...kept, withEllipsis(last)] : [];
}

/** Returns the block with an ellipsis at its end, without half of a surrogate pair. */
export function withEllipsis(block: Block): Block {
  const spans = [...block.spans];
  const end = spans.pop();
  if (end === undefined || end.href !== undefined) {
    return { ...block, spans: [...block.spans, ELLIPSIS_SPAN] };
  }
  const text = `${end.text.replace(/[\ud800-\udbff]$/, "").trimEnd()}…`;
  return { ...block, spans: [...spans, { ...end, text }] };
}

// Control characters other than tab and line feed, and marks that reorder the text around them.
const UNSAFE =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
const ELLIPSIS = "…";

/** Returns a text without control characters, direction overrides and unpaired surrogates. */
export function clean(text: string): string {
  return withLineFeeds(text).replace(UNSAFE, "").toWellFormed();
}

/** Returns a clean text on one line. */
export function cleanLine(text: string): string {
  return clean(text).replace(/\s+/g, " ").trim();
}

/**
 * Returns the longest beginning that fits, with an ellipsis if it was cut, never within a
 * character. If `fits` accepts a text, it must accept shorter ones.
 */
function clip(text: string, fits: (text: string) => boolean): string {
  if (fits(text)) return text;
  const points = Array.from(text);
  const beginning = (length: number) => points.slice(0, length).join("").trimEnd() + ELLIPSIS;
  return beginning(largestCount(points.length - 1, (length) => fits(beginning(length))));
}

/** Cuts a text at a number of UTF-16 units, the strictest reading of limits in "characters". */
export function clipTo(text: string, maxLength: number): string {
  return clip(text, ({ length }) => length <= maxLength);
}

/**
 * Returns the largest number from 0 to `max` for which `holds` is true, if it is true for all
 * smaller ones; else 0.
 */
function largestCount(max: number, holds: (count: number) => boolean): number {
  let low = 0;
  let high = max + 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}

// Characters that are allowed in a URL but end one in some markup.
const ENDS_MARKUP = /[\s<>"'`|\\^{}()]/g;

/**
 * Returns a web address in canonical form, with its host in punycode and markup characters escaped.
 * Undefined for other texts, and for addresses with user info, which can imitate another site
 * (`https://bank.example@elsewhere.example`).
 */
export function webAddress(text: string): string | undefined {
  const url = parseWebUrl(text);
  if (!url || hasUserInfo(url)) return undefined;
  return url.href.replace(ENDS_MARKUP, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  });
}

/** Returns the address of a `mailto:` link; undefined for other schemes. */
function mailAddress(text: string): string | undefined {
  return /^mailto:([^?]+)/i.exec(text)?.[1];
}

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

/** Markup of a service. Text is escaped, so that it appears as written. */
export interface Dialect {
  /** Running text, of any number of lines. */
  text(text: string): string;
  /** Styles. The inner text is already written: one line without spaces at its ends. */
  styled: Readonly<Record<Exclude<Style, "code">, (inner: string) => string>>;
  code(text: string): string;
  codeBlock(text: string): string;
  /** An address from `webAddress`, shown as it is. */
  link(href: string): string;
  /** Quotes lines, which are in the service's markup already. */
  quote(lines: string): string;
  /** Line break within a paragraph. */
  newline: string;
  /** Writes the start of a list entry from "•" or "3.", with the space after it. */
  marker(marker: string): string;
  /** Indentation of an entry per outer list. */
  indent: string;
  rule: string;
}

const HIGHEST = ["strike", "italic", "bold"] as const;

/** Returns blocks in a service's markup: an empty line between them, none between list entries. */
export function writeBlocks(blocks: readonly Block[], dialect: Dialect): string {
  let written = "";
  let depthBefore = 0;
  for (const block of blocks) {
    // Code is written outside of lists, since its lines would end the entry and be read as markup.
    const depth = block.kind === "code" ? 0 : Math.min(block.depth, depthBefore + 1);
    if (written !== "") written += depth > 0 && depthBefore > 0 ? "\n" : "\n\n";
    written += writeBlock(block, depth, dialect);
    depthBefore = depth;
  }
  return written;
}

function writeBlock({ kind, marker, isQuoted, spans }: Block, depth: number, dialect: Dialect) {
  const indent = dialect.indent.repeat(Math.max(0, depth - 1));
  const lead = depth > 0 && marker ? indent + dialect.marker(marker) : indent;
  const written = lead + writeContent(kind, spans, dialect);
  return isQuoted ? dialect.quote(written) : written;
}

function writeContent(kind: Block["kind"], spans: readonly Span[], dialect: Dialect): string {
  if (kind === "rule") return dialect.rule;
  if (kind === "code") return dialect.codeBlock(spans.map(({ text }) => text).join(""));
  return writeSpans(kind === "heading" ? spans.map(strengthened) : spans, dialect);
}

/** Returns a span of a heading in bold, since messages have no headings. */
function strengthened(span: Span): Span {
  const isStrong = span.href !== undefined || span.styles.includes("bold");
  return isStrong ? span : { ...span, styles: [...span.styles, "bold"] };
}

function writeSpans(spans: readonly Span[], dialect: Dialect): string {
  let written = "";
  for (const [index, span] of spans.entries()) {
    const part = writeSpan(span, dialect);
    const isBetweenStyles = span.styles.length > 0 && (spans[index - 1]?.styles.length ?? 0) > 0;
    // Adjacent marks would be read as one: "**a***b*".
    written += isBetweenStyles ? `\u200b${part}` : part;
  }
  return written;
}

function writeSpan({ text, styles, href }: Span, dialect: Dialect): string {
  if (href !== undefined) return dialect.link(href);
  if (styles.length === 0) return dialect.text(text).replaceAll("\n", dialect.newline);
  // Services require styles to end with the line and to touch the words, without spaces.
  return text
    .split("\n")
    .map((line) => {
      const inner = line.trim();
      if (inner === "") return line;
      const start = line.length - line.trimStart().length;
      const styled = styledText(inner, styles, dialect);
      return line.slice(0, start) + styled + line.slice(start + inner.length);
    })
    .join(dialect.newline);
}

function styledText(text: string, styles: readonly Style[], dialect: Dialect): string {
  const isCode = styles.includes("code");
  let written = isCode ? dialect.code(text) : dialect.text(text);
  for (const style of HIGHEST) {
    if (styles.includes(style)) written = dialect.styled[style](written);
  }
  return written;
}

// "@name" that is not part of an email address.
const MENTION = /(?<![\p{L}\p{N}._%+-])@(?=[\p{L}\p{N}_])/gu;

/** Returns a text that looks the same, but whose mentions, such as `@everyone`, have no effect. */
export function withoutMentions(text: string): string {
  return text.replace(MENTION, "@\u200b");
}

/** Characters that are escaped with a backslash everywhere. */
const INLINE = /[\\`*_~|[\]<>&]/g;
/**
 * Matches the start of a heading, list, quote or underline, and a number that would start a list.
 */
const AT_LINE_START = /^(\s*)([#+=-]|\d+(?=[.)]))/gm;

/** Escapes text for Markdown, that of CommonMark and of Discord: a backslash before punctuation. */
function escapeMarkdown(text: string): string {
  return withoutMentions(text)
    .replace(INLINE, "\\$&")
    .replace(AT_LINE_START, (_, space: string, sign: string) =>
      /\d/.test(sign) ? `${space}${sign}\\` : `${space}\\${sign}`,
    );
}

/** Markdown for services that accept it. */
export const MARKDOWN: Dialect = {
  text: escapeMarkdown,
  styled: {
    bold: (inner) => `**${inner}**`,
    italic: (inner) => `*${inner}*`,
    strike: (inner) => `~~${inner}~~`,
  },
  code: (text) => `\`${withoutMentions(text).replaceAll("`", "ˋ")}\``,
  codeBlock: (text) => `\`\`\`\n${withoutMentions(text).replaceAll("`", "ˋ")}\n\`\`\``,
  link: (href) => `<${href}>`,
  quote: (lines) => lines.replace(/^/gm, "> "),
  newline: "\n",
  marker: (marker) => (marker === "•" ? "- " : `${marker} `),
  indent: "    ",
  rule: "———",
};

const unchanged = (text: string) => text;

/** Plain text for services without markup. */
export const PLAIN: Dialect = {
  text: unchanged,
  // Without marks, struck-out text would say the opposite.
  styled: { bold: unchanged, italic: unchanged, strike: (inner) => `~~${inner}~~` },
  code: unchanged,
  codeBlock: unchanged,
  link: unchanged,
  quote: (lines) => lines.replace(/^/gm, "> "),
  newline: "\n",
  marker: (marker) => `${marker} `,
  indent: "  ",
  rule: "———",
};
