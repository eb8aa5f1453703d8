import type { Dialect } from "./markup";
import { withoutMentions } from "./mentions";

/** What a backslash before it makes a mere character, wherever it stands. */
const INLINE = /[\\`*_~|[\]<>&]/g;
/** What begins a heading, a list, a quote or an underline; and a number that would begin a list. */
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
