import { expect, spyOn, test } from "bun:test";
import { type Entries, findEntries } from "../../../src/public/reference/search";

test("a search compiles a short word once, for all entries and however often it is repeated", () => {
  const entry = {
    name: "limit",
    about: "parameter",
    href: "/docs/incidents#listIncidents",
    text: "parameter: a number of entries, as a string",
  };
  const fields = Array.from({ length: 100 }, () => entry);
  const entries: Entries = { operations: [], errors: [], objects: [], fields };
  using escape = spyOn(RegExp, "escape");
  const [results] = findEntries(entries, "a ".repeat(50));
  expect(results?.count).toBe(100);
  expect(escape).toHaveBeenCalledTimes(1);
});
