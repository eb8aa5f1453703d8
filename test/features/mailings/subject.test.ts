import { expect, test } from "bun:test";
import { subjectLine } from "../../../src/features/mailings/lists";

test.each([
  ["Acme", "Errors", "[Acme] Errors"],
  ["Acme\r\nBcc: x", "Err\u202eors\u0000", "[Acme Bcc: x] Err ors"],
  ["Acme", "x".repeat(300), `[Acme] ${"x".repeat(138)}…`],
  ["Long ".repeat(50), "Errors", `[${"Long ".repeat(10).trim()}…] Errors`],
])("the subject of the page %j and the name %j is one short line", (page, name, expected) => {
  const line = subjectLine(page, name);
  expect(line).toBe(expected);
  expect(Array.from(`Re: ${line}`).length).toBeLessThanOrEqual(150);
});
