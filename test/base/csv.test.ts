import { expect, test } from "bun:test";
import fc from "fast-check";
import { parse } from "csv-parse/sync";
import { guarded, toCsvLine, unguarded } from "../../src/base/csv";

test("every guarded cell is read back as it was, and none is taken for a formula", () => {
  const part = fc.constantFrom("'", "=", "+", "-", "@", " ", "\t", "＝", "a", '"', ",", "\n", ";");
  const cell = fc.array(part, { maxLength: 6 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.array(cell, { minLength: 2, maxLength: 4 }), (cells) => {
      const line = toCsvLine(cells.map(guarded));
      const [read = []] = parse(line, { record_delimiter: "\r\n" });
      expect(read.map(unguarded)).toEqual(cells);
      for (const text of read) expect(text).not.toMatch(/^(?:[\t\r\n]|\s*[=+\-@＝])/u);
    }),
  );
});

test("a cell of other programs is read as it is, and an apostrophe before a formula is none of it", () => {
  expect(["ann@example.com", "'tis", "=1+1", "'+1@example.com", "''=x"].map(unguarded)).toEqual([
    "ann@example.com",
    "'tis",
    "=1+1",
    "+1@example.com",
    "'=x",
  ]);
});
