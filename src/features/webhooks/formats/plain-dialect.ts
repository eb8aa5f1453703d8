import type { Dialect } from "./markup";

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
