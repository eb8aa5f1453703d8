import type { Dialect } from "./markup";
import { withoutMentions } from "./mentions";

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
