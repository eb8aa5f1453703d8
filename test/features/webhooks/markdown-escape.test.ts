import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import createMarkdown, { type Token } from "markdown-it";
import { bodyFor, incidentEvent } from "../../support/webhook-formats";

/**
 * Renders a text as CommonMark with GitHub's tables and strikethrough, as text and markup found.
 */
function read(markdown: string): { text: string; markup: string[] } {
  const tokens = createMarkdown({ html: true }).parse(markdown, {});
  const flat = tokens.flatMap((token) => [token, ...(token.children ?? [])]);
  const isMarkup = ({ type }: Token) =>
    !/^(paragraph_(open|close)|inline|text|softbreak|hardbreak)$/.test(type);
  const lines = tokens
    .filter(({ type }) => type === "inline")
    .map(({ children }) =>
      (children ?? []).map((t) => (t.type.endsWith("break") ? "\n" : t.content)).join(""),
    );
  return { text: lines.join("\n"), markup: flat.filter(isMarkup).map(({ type }) => type) };
}

const PIECES = [
  ..."*_~`[]()<>#+-=|\\!&.1a \n",
  "&lt;",
  "<b>",
  "**",
  "```",
  "](x:y)",
  "1. ",
  "- ",
  "# ",
  "> ",
  "---",
];

describe("escaping of plain text as Markdown", () => {
  test("any plain text renders as itself without markup", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }), (pieces) => {
        // Lines as people see them: spaces at their ends do not show, and an empty one ends a paragraph.
        const message = pieces
          .join("")
          .split("\n")
          .map((line) => line.trim())
          .filter((line) => line !== "")
          .join("\n");
        const event = {
          ...incidentEvent("", ""),
          type: "monitor.down" as const,
          data: { name: "x", last_check: { message: `x\n${message}`.trim() } },
        };
        const markdown: string = bodyFor("gotify", event).message;
        const { text, markup } = read(markdown);
        expect(markup).toEqual([]);
        expect(text).toBe(`${`x\n${message}`.trim()}\nAcme · 2026-03-10 12:00 UTC`);
      }),
      { numRuns: 500, seed: 7 },
    );
  });
});

describe("rewriting of Markdown", () => {
  test("rewritten Markdown contains no images, HTML or hidden link targets", () => {
    const pieces = [
      ...PIECES,
      "](https://a.example/c)",
      "![",
      "\n\n",
      "  - ",
      "    ",
      "https://b.example/_c_",
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 40 }), (chosen) => {
        const { message } = bodyFor("gotify", incidentEvent("Name", chosen.join("")));
        const tokens = createMarkdown({ html: true }).parse(message, {});
        for (const { type, markup } of tokens.flatMap((t) => [t, ...(t.children ?? [])])) {
          expect(type).not.toMatch(/image|html|table|heading/);
          if (type === "link_open") expect(markup).toBe("autolink");
        }
      }),
      { numRuns: 500, seed: 7 },
    );
  });
});
