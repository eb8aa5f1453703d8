import { expect, test } from "bun:test";
import fc from "fast-check";
import { readPageRequest, toPage } from "../../src/http/pagination";

/** Returns the cursor of a list after a position. */
function cursorAfter(position: string | number): string {
  const page = toPage(
    [position, position],
    1,
    (row) => row,
    (row) => row,
  );
  return page.next_cursor ?? "";
}

test("a cursor returns the position it was made from and is safe in a URL", () => {
  const position = fc.oneof(
    fc.string(),
    fc.maxSafeInteger().filter((n) => !Object.is(n, -0)),
  );
  fc.assert(
    fc.property(position, (value) => {
      const cursor = cursorAfter(value);
      const kind = typeof value === "string" ? "string" : "number";
      expect(readPageRequest({ cursor }, kind).after).toBe(value);
      expect(cursor).toBe(encodeURIComponent(cursor));
    }),
  );
});

test.each([
  ["nothing", ""],
  ["text that is not base64url", "!!"],
  ["base64url of no JSON", Buffer.from("cmp_1").toString("base64url")],
  ["another shape", Buffer.from('{"a":1}').toString("base64url")],
  ["a fraction", Buffer.from("1.5").toString("base64url")],
  ["null", Buffer.from("null").toString("base64url")],
  ["the same position spelled otherwise", Buffer.from(" 7").toString("base64url")],
  ["a cursor with padding", `${cursorAfter(7)}=`],
  ["a cursor with more behind it", `${cursorAfter("cmp_1")}A`],
])("%s is not accepted as a cursor", (_what, cursor) => {
  for (const kind of ["string", "number"] as const) {
    expect(() => readPageRequest({ cursor }, kind)).toThrow("not the next_cursor of a list");
  }
});
