import { expect, test } from "bun:test";
import { join } from "node:path";
import { readWay, WAYS } from "./support/ways";

const README = await Bun.file(join(import.meta.dir, "..", "src", "README.md")).text();
const SHARED = "Every request";
/** Ways that begin with a request. */
const REQUESTS: readonly string[] = [
  "a status read by a key",
  "a new incident",
  "a form of the dashboard",
];

/** Files that a section names for what happens besides. */
const LATER: readonly string[] = [
  "features/auth/screens/refused-form.tsx",
  "features/users/letters.ts",
];

/** Returns the files of src that a section of the README names. */
function filesIn(title: string): string[] {
  const [, section = ""] = README.split(new RegExp(`^### ${title}$`, "mi"));
  const [text = ""] = section.split(/^##/m);
  return [...text.matchAll(/`([\w./-]+\.tsx?)`/g)].map(([, file = ""]) => file);
}

test.each(WAYS)("the README names the files on the way of %s", async (way) => {
  const { passed, loaded } = await readWay(way);
  const own = filesIn(way);
  const shared = REQUESTS.includes(way) ? filesIn(SHARED) : [];
  const form = way === "a form of the dashboard" ? filesIn("a new incident") : [];
  expect(own.length).toBeGreaterThan(1);
  expect(passed.filter((file) => ![...own, ...shared, ...form].includes(file))).toEqual([]);
  const named = own.filter((file) => file.includes("/"));
  expect(named.filter((file) => !loaded.has(file) && !LATER.includes(file))).toEqual([]);
});
