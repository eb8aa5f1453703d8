/** Languages with a catalog, by their tags. English is the first; the others follow in the order of their tags. */
export const LANGUAGES = [
  "en",
  "ar",
  "cs",
  "da",
  "de",
  "es",
  "fi",
  "fr",
  "he",
  "it",
  "ja",
  "ko",
  "nb",
  "nl",
  "pl",
  "pt-BR",
  "ru",
  "sv",
  "tr",
  "uk",
  "zh-CN",
  "zh-TW",
] as const;

export type Language = (typeof LANGUAGES)[number];

/** Property with the language of a text that Allclear wrote. It is a symbol, since the API does not show it. */
export const LANG: unique symbol = Symbol("lang");

/** An object with a text that Allclear may have written. */
export interface InSomeLanguage {
  [LANG]?: string;
}

/** Returns the property with the language of a text; nothing for a text of a person. */
export function inSomeLanguage(lang: string | null): InSomeLanguage {
  return lang === null ? {} : { [LANG]: lang };
}

/** Maximum number of languages of a page. */
export const LANGUAGES_MAX = 22;

/** Catalogs of tags that have none of their own. */
const OTHER_TAGS: Readonly<Record<string, string>> = { no: "nb", pt: "pt-BR" };

/**
 * Finds the catalog of a locale by look-up (RFC 4647, 3.4): of `de-AT` that of `de`. Chinese is found by its script, which
 * regions imply. Undefined without a catalog, and for a text that is no language tag.
 */
export function languageOf(locale: string): Language | undefined {
  const tag = parseTag(locale);
  if (tag === undefined) return undefined;
  if (tag.language === "zh") {
    return catalogOf(tag.maximize().script === "Hant" ? "zh-TW" : "zh-CN");
  }
  const subtags = tag.baseName.split("-");
  while (subtags.length > 0) {
    const range = subtags.join("-");
    const found = catalogOf(OTHER_TAGS[range] ?? range);
    if (found !== undefined) return found;
    subtags.pop();
    // A single letter begins an extension, which says nothing without its values.
    if (subtags.at(-1)?.length === 1) subtags.pop();
  }
  return undefined;
}

/** Returns the locale of dates, times and numbers. English without a region has the day first, and 24 hours. */
export function formatLocale(locale: string): string {
  return locale === "en" ? "en-GB" : locale;
}

/** Returns the language of dates and times beside words in English; undefined for a locale with a catalog. */
export function formatLang(locale: string): string | undefined {
  return languageOf(locale) === undefined ? locale : undefined;
}

function catalogOf(tag: string): Language | undefined {
  return LANGUAGES.find((language) => language === tag);
}

/** Returns a language tag as it is written usually, such as `pt-BR` for `PT-br`; undefined for any other text. */
export function canonicalTag(text: string): string | undefined {
  return parseTag(text)?.toString();
}

/** Parses a language tag; undefined for any other text. */
function parseTag(text: string): Intl.Locale | undefined {
  try {
    return new Intl.Locale(text);
  } catch {
    return undefined;
  }
}
