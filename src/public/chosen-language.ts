/*
 * Languages of a page that visitors choose by `?lang=`. A page in a chosen language is a snapshot of its own, with another
 * `locale`, so that everything that is made once for a snapshot is made once for each language.
 */
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
const made = new WeakMap<Snapshot, Map<string, Snapshot>>();

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

/** Number of languages in which the documents of a visitor with a link are kept: there are many links. */
const LANGUAGES_OF_LINK = 1;

/**
 * Returns a snapshot in a language of its page; without a language the snapshot itself. `link` is the one in the addresses
 * of the snapshot.
 */
export function inLanguage(
  snapshot: Snapshot,
  language: string | undefined,
  link?: string,
): Snapshot {
  if (language === undefined) return snapshot;
  let byLanguage = made.get(snapshot);
  if (!byLanguage) made.set(snapshot, (byLanguage = new Map()));
  let copy = byLanguage.get(language);
  if (!copy) {
    const { document } = snapshot;
    const page = { ...document.page, locale: language };
    // What a snapshot computes at first use stays with the original one.
    copy = Object.create(snapshot, { document: { value: { ...document, page } } }) as Snapshot;
    choices.set(copy, { language, original: snapshot });
    byLanguage.set(language, copy);
    const [oldest] = byLanguage.keys();
    const isFull = link !== undefined && byLanguage.size > LANGUAGES_OF_LINK;
    if (isFull && oldest !== undefined) byLanguage.delete(oldest);
  }
  return copy;
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
