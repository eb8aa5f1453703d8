import { describe, expect, test } from "bun:test";
import { renderToString } from "preact-render-to-string";
import { languageOf, LANGUAGES } from "../../src/languages/tags";
import { createWords, wordsOf } from "../../src/languages/words";
import { pageWordsOf, withFormats } from "../../src/ui/words";

describe("the catalog of a locale", () => {
  const has = (tag: string) => (LANGUAGES as readonly string[]).includes(tag);

  test.each([
    ["en", "en"],
    ["en-US", "en"],
    ["EN-gb", "en"],
    ["de", "de"],
    ["de-AT", "de"],
    ["de-CH-1996", "de"],
    ["de-x-formal", "de"],
    ["de-DE-u-nu-latn", "de"],
    ["pt", "pt-BR"],
    ["pt-PT", "pt-BR"],
    ["no", "nb"],
    ["nb-NO", "nb"],
    ["iw", "he"],
    ["zh", "zh-CN"],
    ["zh-Hans", "zh-CN"],
    ["zh-SG", "zh-CN"],
    ["zh-Hans-HK", "zh-CN"],
    ["zh-Hant", "zh-TW"],
    ["zh-HK", "zh-TW"],
    ["zh-MO", "zh-TW"],
    ["zh-TW", "zh-TW"],
    ["ar-EG", "ar"],
  ])("is found by look-up: %s has that of %s", (locale, language) => {
    expect<string | undefined>(languageOf(locale)).toBe(has(language) ? language : undefined);
  });

  test.each(["hu", "nn", "x-private", "", "not a tag", "d"])("is missing for %j", (locale) => {
    expect(languageOf(locale)).toBeUndefined();
  });
});

describe("the words of a locale", () => {
  test("are in its language, with its own tag and numbers", () => {
    const words = wordsOf("de-CH");
    expect(words.t("status.operational")).toBe("Betriebsbereit");
    expect(words.t("open.count", { count: 1 })).toBe("1 Störung");
    expect(words.t("open.count", { count: 12_345 })).toMatch(/^12['’]345 Störungen$/);
    expect(wordsOf("de").t("open.count", { count: 12_345 })).toBe("12.345 Störungen");
    expect([words.lang, words.dir, words.isEnglish]).toEqual(["de-CH", "ltr", false]);
  });

  test("are English without a catalog, and say so", () => {
    const words = wordsOf("hu");
    expect(words.t("open.count", { count: 1_000 })).toBe("1,000 incidents");
    expect([words.lang, words.dir, words.isEnglish]).toEqual(["en", "ltr", true]);
  });

  test("are made once for a locale", () => {
    expect(wordsOf("de")).toBe(wordsOf("de"));
    expect(pageWordsOf("de")).toBe(pageWordsOf("de"));
  });

  test("of a message that the catalog lacks are English, and marked as such on pages", () => {
    const language = { name: "العربية", dir: "rtl" } as const;
    const messages = { "status.operational": "يعمل", "open.began": "بدأ {time}" };
    const words = withFormats(createWords({ language, messages }, "ar"));
    expect(words.t("status.operational")).toBe("يعمل");
    expect(words.t("open.count", { count: 2 })).toBe("2 incidents");
    const render = (said: unknown) => renderToString(<p>{said as string}</p>);
    expect(render(words.say("status.operational"))).toBe("<p>يعمل</p>");
    expect(render(words.say("status.major_outage"))).toBe(
      '<p><span lang="en" dir="ltr">Major outage</span></p>',
    );
    expect(render(words.say("open.began", { time: <time>10</time> }))).toBe(
      "<p>بدأ <time>10</time></p>",
    );
    expect(render(words.say("open.since", { time: <time>10</time> }))).toBe(
      '<p><span lang="en" dir="ltr">since <time>10</time></span></p>',
    );
  });

  test("need a value for every placeholder", () => {
    expect(() => wordsOf("en").t("open.count", {})).toThrow();
  });
});

describe("figures in words", () => {
  const plain = (text: string) => text.replace(/[\u00a0\u202f]/g, " ");

  test("are written as before in English", () => {
    const words = pageWordsOf("en-US");
    expect(words.percent(0.99979)).toBe("99.97 %");
    expect(words.duration(70)).toBe("1 h 10 min");
    expect(words.latency(12_400)).toBe("12.4 s");
    expect(words.lasting("2026-01-01T00:00:00Z", "2026-01-04T04:00:00Z")).toBe("3 days 4 h");
  });

  test("follow the language", () => {
    const words = pageWordsOf("de");
    expect(plain(words.percent(0.99979))).toBe("99,97 %");
    expect(plain(words.percent(1))).toBe("100 %");
    expect(plain(words.duration(70))).toBe("1 Std., 10 Min.");
    expect(plain(words.latency(124.4))).toBe("124 ms");
    expect(plain(words.latency(12_400))).toBe("12,4 Sek.");
    expect(plain(words.lasting("2026-01-01T00:00:00Z", "2026-01-01T00:00:59Z"))).toBe(
      words.t("time.less_than_minute"),
    );
    expect(plain(words.lasting("2026-01-01T00:00:00Z", "2026-01-04T04:00:00Z"))).toBe(
      "3 Tg., 4 Std.",
    );
  });

  test("and lists have a place for elements", () => {
    expect(renderToString(<p>{pageWordsOf("de").list([<b>A</b>, "B", "C"])}</p>)).toBe(
      "<p><b>A</b>, B und C</p>",
    );
    expect(pageWordsOf("en").list(["A", "B"]).join("")).toBe("A and B");
    // As everywhere in English.
    expect(pageWordsOf("en-US").list(["A", "B", "C"]).join("")).toBe("A, B and C");
  });
});
