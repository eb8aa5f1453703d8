import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Incident } from "../../../src/features/incidents/wire";
import {
  ANSWER_MAX_BYTES,
  fits,
  incidentForTools,
  toFittingText,
} from "../../../src/features/mcp/rules";

/** Bytes of a text as a string of JSON. */
const bytesOf = (text: string) => Buffer.byteLength(JSON.stringify(text));

const largeText = fc
  .tuple(fc.constantFrom("a", '"', "\n", "é", "𝄞", "\ud834"), fc.nat({ max: 20_000 }))
  .map(([unit, times]) => unit.repeat(times));
const entry = fc.oneof(fc.string(), largeText, fc.double(), fc.constant(null));
const list = fc.array(fc.oneof(entry, fc.record({ name: entry, parts: fc.array(entry) })), {
  maxLength: 20,
});
const answer = fc.record({
  id: fc.string(),
  text: entry,
  list: fc.tuple(list, fc.nat({ max: 10 })).map(([few, times]) => Array(times).fill(few).flat()),
});

test("every answer fits, is JSON, and is unchanged if it fitted before", () => {
  fc.assert(
    fc.property(answer, (given) => {
      const text = toFittingText(given);
      expect(fits(text)).toBe(true);
      expect(bytesOf(text)).toBeLessThan(ANSWER_MAX_BYTES);
      const whole = JSON.stringify(given);
      if (fits(whole)) expect(text).toBe(whole);
      else expect(JSON.parse(text).note).toContain("_left_out");
    }),
    { numRuns: 100 },
  );
});

test("a list that is cut keeps its first entries and counts the others, at any depth", () => {
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
  const given = { outer: [{ inner: numbers(50_000) }], short: numbers(3) };
  const { note, outer, ...others } = JSON.parse(toFittingText(given));
  expect(note).toBeString();
  expect(others).toEqual({ short: [0, 1, 2] });
  const [{ inner, inner_left_out: leftOut }] = outer;
  expect(inner).toEqual(numbers(inner.length));
  expect(inner.length + leftOut).toBe(50_000);
});

test("a text that is cut ends with an ellipsis and not with half of a character", () => {
  for (const shift of ["", "x"]) {
    const { text } = JSON.parse(toFittingText({ text: shift + "𝄞".repeat(60_000) }));
    expect(text).toEndWith("𝄞…");
    expect(text.isWellFormed()).toBe(true);
  }
});

test("the note comes first, also in the place of another one", () => {
  const text = toFittingText({ id: "x", text: "x".repeat(200_000), note: "Another." });
  expect(text).toStartWith('{"note":"The answer');
  expect(text).not.toContain("Another.");
});

test("controls of terminals are left out of untrusted_text, and tabs and ends of lines stay", () => {
  const body = "Disk\tfull.\r\n\u001b[2JRead\u0000 \u0085the\u009b log.\n";
  const incident = { source: "monitor", updates: [{ body }] } as Incident;
  expect(incidentForTools(incident)).toEqual({
    source: "monitor",
    updates: [{ untrusted_text: "Disk\tfull.\r\n[2JRead the log.\n" }],
  });
});
