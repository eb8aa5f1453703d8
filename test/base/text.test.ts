import { expect, test } from "bun:test";
import { parseJson } from "../../src/base/text";

test("a JSON text has its value, and any other text has none", () => {
  expect(parseJson('{"a":[1,null]}')).toEqual({ a: [1, null] });
  expect(parseJson("null")).toBeNull();
  for (const text of ["", "{", "plain text", '{"a":…}']) expect(parseJson(text)).toBeUndefined();
});
