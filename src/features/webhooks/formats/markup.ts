import type { Block, Span, Style } from "./blocks";

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
      const [, before = "", inner = "", after = ""] = /^(\s*)(.*?)(\s*)$/.exec(line) ?? [];
      return inner === "" ? before + after : before + styledText(inner, styles, dialect) + after;
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
