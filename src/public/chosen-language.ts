/*
 * Languages of a page that visitors choose by `?lang=`. A page in a chosen language is a snapshot of its own, with another
 * `locale`, so that everything that is made once for a snapshot is made once for each language.
 */
import { LANGUAGES_MAX } from "../languages/tags";
import { wordsOf } from "../languages/words";
import type { Snapshot } from "../features/status/snapshots";
import { LANGUAGE_PARAMETER } from "../features/pages/language-links";
import { choosableLanguages } from "../features/pages/rules";
import type { Page } from "../features/pages/wire";
import { splitUrl } from "../http/request-context";

/** A language of a page. */
export interface OfferedLanguage {
  /** Tag of the language; undefined in place of that of the page itself, whose addresses have no parameter. */
  chosen: string | undefined;
  tag: string;
  /** Language of the words, for `lang` and `hreflang`: English for a tag without a catalog. */
  lang: string;
  /** Name in the language itself, with the region if another one has the same name. */
  name: string;
  dir: "ltr" | "rtl";
}

interface Choice {
  language: string;
  original: Snapshot;
}

/** Snapshots in a chosen language, with the ones that they are made from. */
const choices = new WeakMap<object, Choice>();

/** Snapshots by the one that they are made from and by their language, the last used one last. */
type Copies = WeakMap<Snapshot, Map<string, Snapshot>>;

const ofPages: Copies = new WeakMap();
const ofFiles: Copies = new WeakMap();

/** Returns the language that a request chooses of a page; undefined for the page's own, and for one that it lacks. */
export function languageOfRequest(
  { url }: Pick<Request, "url">,
  page: Pick<Page, "locale" | "languages">,
): string | undefined {
  if (page.languages.length === 0) return undefined;
  const query = splitUrl(url)?.query ?? "";
  // Most requests have no parameter.
  if (!query.includes(`${LANGUAGE_PARAMETER}=`)) return undefined;
  const language = new URLSearchParams(query).get(LANGUAGE_PARAMETER);
  return language !== null && language !== page.locale && page.languages.includes(language)
    ? language
    : undefined;
}

/** Returns a snapshot in a language of its page; without a language the snapshot itself. */
export function inLanguage(snapshot: Snapshot, language: string | undefined): Snapshot {
  return language === undefined ? snapshot : copyOf(ofPages, snapshot, language, LANGUAGES_MAX);
}

/**
 * Number of further languages in which the files of a page are kept with its snapshot, such as feeds of 300 kB: with those
 * in its own language as many files as further documents.
 */
export const LANGUAGES_OF_FILES = 4;
/** The same for files whose addresses contain a link: a page has many links. */
const LANGUAGES_OF_LINK = 1;

/** Like `inLanguage`, for what is kept with the snapshot that is returned. */
export function filesInLanguage(
  snapshot: Snapshot,
  language: string | undefined,
  { hasLink }: { hasLink: boolean },
): Snapshot {
  if (language === undefined) return snapshot;
  return copyOf(ofFiles, snapshot, language, hasLink ? LANGUAGES_OF_LINK : LANGUAGES_OF_FILES);
}

function copyOf(copies: Copies, snapshot: Snapshot, language: string, max: number): Snapshot {
  let byLanguage = copies.get(snapshot);
  if (!byLanguage) copies.set(snapshot, (byLanguage = new Map()));
  return lastUsed(byLanguage, language, max, () => {
    const { document } = snapshot;
    const page = { ...document.page, locale: language };
    // What a snapshot computes at first use stays with the original one.
    const copy: Snapshot = Object.create(snapshot, { document: { value: { ...document, page } } });
    choices.set(copy, { language, original: snapshot });
    return copy;
  });
}

/** Returns the value of a key, made if the map lacks it. The map keeps the `max` values that were used last. */
export function lastUsed<Key, Value>(
  kept: Map<Key, Value>,
  key: Key,
  max: number,
  make: () => Value,
): Value {
  const value = kept.get(key) ?? make();
  kept.delete(key);
  kept.set(key, value);
  const [oldest] = kept.keys();
  if (kept.size > max && oldest !== undefined) kept.delete(oldest);
  return value;
}

/** Returns the language that a snapshot is in; undefined for the page's own. */
export function chosenLanguage(snapshot: object): string | undefined {
  return choices.get(snapshot)?.language;
}

/** Returns the snapshot that a snapshot in a chosen language was made from; any other one itself. */
export function originalOf(snapshot: Snapshot): Snapshot {
  return choices.get(snapshot)?.original ?? snapshot;
}

/**
 * Returns the languages of a page, its own first unless the list has it in another place. Of tags with the same words only
 * the page's own, or the first. Empty for a single one.
 */
export function offeredLanguages(
  page: Pick<Page, "locale" | "languages">,
): readonly OfferedLanguage[] {
  const { locale } = page;
  const langs = new Map([[wordsOf(locale).lang, locale]]);
  const all = choosableLanguages(page);
  for (const tag of all) if (!langs.has(wordsOf(tag).lang)) langs.set(wordsOf(tag).lang, tag);
  const tags = all.filter((tag) => langs.get(wordsOf(tag).lang) === tag);
  if (tags.length < 2) return [];
  const names = tags.map((tag) => wordsOf(tag).name);
  return tags.map((tag, index) => {
    const { lang, dir } = wordsOf(tag);
    const name = names[index] ?? tag;
    const isAmbiguous = names.filter((other) => other === name).length > 1;
    return {
      chosen: tag === locale ? undefined : tag,
      tag,
      lang,
      name: isAmbiguous ? withRegion(name, tag) : name,
      dir,
    };
  });
}

/** Returns the name of a language with its region, such as "Deutsch (Schweiz)". */
function withRegion(name: string, tag: string): string {
  const { region } = new Intl.Locale(tag);
  const regions = new Intl.DisplayNames(tag, { type: "region" });
  return region === undefined ? name : `${name} (${regions.of(region)})`;
}

/** Removes the language from an address of a page. */
export function withoutLanguage(address: string): string {
  return address.replace(/([?&])lang=[^&#]*(&?)/, (_, before: string, after: string) =>
    after === "" ? "" : before,
  );
}

/** Returns what the rendering of a document needs of the language of its snapshot. */
export function languageRendering(snapshot: Snapshot): {
  language: string | undefined;
  languages: readonly OfferedLanguage[];
} {
  return {
    language: chosenLanguage(snapshot),
    languages: offeredLanguages(originalOf(snapshot).document.page),
  };
}
