import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/base/time";

const ages = readFileSync(join(import.meta.dir, "../../src/public/ages.js"), "utf8");

/** Returns the function of the script on a page whose words are English or, with words of its own, not. */
function load(locale: string, ownWords?: string): (ms: number) => string {
  const make = new Function("locale", "ownWords", "words", `${ages}\nreturn ageOf;`);
  return make(locale, ownWords, { now: "just now" });
}

const TIMES = [0, MINUTE_MS, 59 * MINUTE_MS, HOUR_MS, 23 * HOUR_MS, DAY_MS, 2 * DAY_MS];
const ENGLISH = ["just now", "1 min ago", "59 min ago", "1 h ago", "23 h ago", "1 day ago"];

test.each(["en", "en-US", "hu"])("ages beside English words are English, also for %s", (locale) => {
  expect(TIMES.map(load(locale))).toEqual([...ENGLISH, "2 days ago"]);
});

test("ages beside other words are in their language", () => {
  const [, minute, , hour, , day, days] = TIMES.map(load("de", "{}"));
  expect([minute, hour, day, days]).toEqual([
    "vor 1 Min.",
    "vor 1 Std.",
    "vor 1 Tag",
    "vor 2 Tagen",
  ]);
});
