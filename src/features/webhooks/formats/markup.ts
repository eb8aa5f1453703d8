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
  /** Lines that are written already. */
  quote(lines: string): string;
  /** The end of a line inside a paragraph. */
  newline: string;
  /** Writes the start of a list entry from "•" or "3.", with the space after it. */
  marker(marker: string): string;
  /** For each list that an entry stands in but the first. */
  indent: string;
  rule: string;
}

const HIGHEST = ["strike", "italic", "bold"] as const;

/** Blocks in a service's markup: an empty line between them, none between the entries of a list. */
export function writeBlocks(blocks: readonly Block[], dialect: Dialect): string {
  let written = "";
  let depthBefore = 0;
  for (const block of blocks) {
    // Code stands outside of lists: its lines would end the entry, and be read as markup then.
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

/** A heading is bold where a service has no headings in messages. */
function strengthened(span: Span): Span {
  const isStrong = span.href !== undefined || span.styles.includes("bold");
  return isStrong ? span : { ...span, styles: [...span.styles, "bold"] };
}

function writeSpans(spans: readonly Span[], dialect: Dialect): string {
  let written = "";
  for (const [index, span] of spans.entries()) {
    const part = writeSpan(span, dialect);
    const isBetweenStyles = span.styles.length > 0 && (spans[index - 1]?.styles.length ?? 0) > 0;
    // Two marks that touch would be read as one: "**a***b*".
    written += isBetweenStyles ? `\u200b${part}` : part;
  }
  return written;
}

function writeSpan({ text, styles, href }: Span, dialect: Dialect): string {
  if (href !== undefined) return dialect.link(href);
  if (styles.length === 0) return dialect.text(text).replaceAll("\n", dialect.newline);
  // A style ends with its line, and stands close to its words: no service's markup is sure of more.
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

// "@name" where it is no part of an address.
const MENTION = /(?<![\p{L}\p{N}._%+-])@(?=[\p{L}\p{N}_])/gu;

/** A text in which `@everyone` calls nobody, and reads the same. */
export function withoutMentions(text: string): string {
  return text.replace(MENTION, "@\u200b");
}

/** Characters that are escaped with a backslash everywhere. */
const INLINE = /[\\`*_~|[\]<>&]/g;
/**
 * Matches the start of a heading, list, quote or underline, and a number that would start a list.
 */
const AT_LINE_START = /^(\s*)([#+=-]|\d+(?=[.)]))/gm;

/** Text in Markdown, CommonMark's and Discord's alike: a backslash before punctuation makes it text. */
function escape(text: string): string {
  return withoutMentions(text)
    .replace(INLINE, "\\$&")
    .replace(AT_LINE_START, (_, space: string, sign: string) =>
      /\d/.test(sign) ? `${space}${sign}\\` : `${space}\\${sign}`,
    );
}

/** Markdown as services write it that take it as it is. */
export const MARKDOWN: Dialect = {
  text: escape,
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

const asItIs = (text: string) => text;

/** Plain text, where a service has no markup in all of its clients. */
export const PLAIN: Dialect = {
  text: asItIs,
  // What is struck out says the opposite without its marks.
  styled: { bold: asItIs, italic: asItIs, strike: (inner) => `~~${inner}~~` },
  code: asItIs,
  codeBlock: asItIs,
  link: asItIs,
  quote: (lines) => lines.replace(/^/gm, "> "),
  newline: "\n",
  marker: (marker) => `${marker} `,
  indent: "  ",
  rule: "———",
};
