import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import createMarkdown, { type Token } from "markdown-it";
import { bodyFor, incidentEvent } from "../../support/webhook-formats";

/** What a reader of CommonMark with GitHub's tables and strikes sees of a text. */
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

describe("plain text that is written as Markdown", () => {
  test("reads as that text, whatever it is, without any markup", () => {
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

describe("Markdown that is written anew", () => {
  test("fetches no picture, holds no HTML, and shows where its links lead, whatever was written", () => {
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
