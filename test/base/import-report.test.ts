import { expect, test } from "bun:test";
import { changeValueInWords, typeInWords } from "../../src/base/import-report";

test("typeInWords returns the types of sources in words", () => {
  expect(typeInWords("status_page")).toEqual(["status page", "status pages"]);
  expect(typeInWords("external-endpoint")).toEqual(["external endpoint", "external endpoints"]);
  expect(typeInWords("api_key")).toEqual(["API key", "API keys"]);
});

test("changeValueInWords quotes texts, but not the words for secrets", () => {
  const texts = ["a", "set", "none", "", null, 5, true].map(changeValueInWords);
  expect(texts).toEqual(["“a”", "set", "none", "none", "none", "5", "true"]);
});
