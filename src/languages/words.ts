/*
 * Words of what visitors read, in the languages of `tags.ts`. English is a part of the program; the other catalogs are files
 * of the executable, each read when a page first uses its language. Messages are in the ICU format.
 */
import { readFileSync } from "node:fs";
import type {
  Formatters,
  FormatXMLElementFn,
  IntlMessageFormat,
  PrimitiveType,
} from "intl-messageformat";
import { LRUCache } from "lru-cache";
import { lazy } from "../base/lazy";
import { formatLocale, type InSomeLanguage, LANG, type Language, languageOf } from "./tags";
import ar from "./ar.json" with { type: "file" };
import cs from "./cs.json" with { type: "file" };
import da from "./da.json" with { type: "file" };
import de from "./de.json" with { type: "file" };
import es from "./es.json" with { type: "file" };
import fi from "./fi.json" with { type: "file" };
import fr from "./fr.json" with { type: "file" };
import he from "./he.json" with { type: "file" };
import it from "./it.json" with { type: "file" };
import ja from "./ja.json" with { type: "file" };
import ko from "./ko.json" with { type: "file" };
import nb from "./nb.json" with { type: "file" };
import nl from "./nl.json" with { type: "file" };
import pl from "./pl.json" with { type: "file" };
import ptBr from "./pt-BR.json" with { type: "file" };
import ru from "./ru.json" with { type: "file" };
import sv from "./sv.json" with { type: "file" };
import tr from "./tr.json" with { type: "file" };
import uk from "./uk.json" with { type: "file" };
import zhCn from "./zh-CN.json" with { type: "file" };
import zhTw from "./zh-TW.json" with { type: "file" };
import { messages as english } from "./en.json";

/** Name of a message. */
export type MessageKey = keyof typeof english;

/** Values of a message's placeholders. */
type MessageArgs = Readonly<Record<string, string | number>>;

/** A value that is neither text nor number, or the function that makes one of the content of a tag. */
type Rich<T> = PrimitiveType | T | FormatXMLElementFn<T, T | (string | T)[]>;

/** Words in the language of a locale, or in English for a locale without a catalog. */
export interface Words {
  /** Tag for the attribute `lang` of texts with these words. */
  lang: string;
  dir: "ltr" | "rtl";
  /** True for English, also in place of another language. */
  isEnglish: boolean;
  /** Locale for the numbers in these words. */
  locale: string;
  /** Returns the format of lists with "and". */
  lists(): Intl.ListFormat;
  /** Name of the language in itself. */
  name: string;
  /** Returns the tag of a text in another language than these words; undefined for one in theirs, or of a person. */
  langOf(text: InSomeLanguage | string | null | undefined): string | undefined;
  /** Returns a message, in English if the catalog lacks it. Throws if a value is missing. */
  t(key: MessageKey, args?: MessageArgs): string;
  /** Returns a message in parts, with values that are not text, such as elements. */
  parts<T>(key: MessageKey, args: Readonly<Record<string, Rich<T>>>): (string | T)[];
  /** False for a message that is in English because the catalog lacks it. */
  has(key: MessageKey): boolean;
}

/** Content of a catalog. */
export interface Catalog {
  language: { name: string; dir: "ltr" | "rtl" };
  messages: Readonly<Partial<Record<MessageKey, string>>>;
}

const ENGLISH: Catalog = { language: { name: "English", dir: "ltr" }, messages: english };

/** Paths of the other catalogs, on disk or inside the executable. */
const FILES = {
  ar,
  cs,
  da,
  de,
  es,
  fi,
  fr,
  he,
  it,
  ja,
  ko,
  nb,
  nl,
  pl,
  "pt-BR": ptBr,
  ru,
  sv,
  tr,
  uk,
  "zh-CN": zhCn,
  "zh-TW": zhTw,
} as unknown as Readonly<Record<Exclude<Language, "en">, string>>;

/** Number of locales whose words are kept. */
const LOCALES_MAX = 100;

const wordsByLocale = lazy(() => new LRUCache<string, Words>({ max: LOCALES_MAX }));
const catalogs = lazy(() => new Map<Language, Catalog>([["en", ENGLISH]]));

/** Returns the words for a locale. */
export function wordsOf(locale: string): Words {
  let words = wordsByLocale().get(locale);
  if (!words) {
    const language = languageOf(locale);
    words = createWords(readCatalog(language ?? "en"), language === undefined ? "en" : locale);
    wordsByLocale().set(locale, words);
  }
  return words;
}

/** Sets the words of a locale in place of those of its catalog. Tests use it for a pseudo-language. */
export function keepWords(locale: string, words: Words): void {
  wordsByLocale().set(locale, words);
}

function readCatalog(language: Language): Catalog {
  let catalog = catalogs().get(language);
  if (!catalog && language !== "en") {
    catalog = JSON.parse(readFileSync(FILES[language], "utf8")) as Catalog;
    catalogs().set(language, catalog);
  }
  return catalog ?? ENGLISH;
}

/** Creates the words of a catalog. Tests pass a catalog of their own. */
export function createWords(catalog: Catalog, locale: string): Words {
  const { language, messages } = catalog;
  const isEnglish = catalog === ENGLISH;
  const ownLocale = formatLocale(locale);
  const formats = new Map<MessageKey, IntlMessageFormat>();
  const formatters = lazy(() => createFormatters(ownLocale));
  const inEnglish = lazy(() => createFormatters("en-GB"));
  // English lists have no comma before "and", as in the dashboard.
  const lists = lazy(
    () => new Intl.ListFormat(isEnglish ? "en-GB" : ownLocale, { type: "conjunction" }),
  );
  const has = (key: MessageKey) => messages[key] !== undefined;

  function formatOf(key: MessageKey): IntlMessageFormat {
    let format = formats.get(key);
    if (!format) {
      const message = messages[key];
      format =
        message === undefined
          ? parse(english[key], "en-GB", inEnglish())
          : parse(message, ownLocale, formatters());
      formats.set(key, format);
    }
    return format;
  }

  return {
    lang: locale,
    dir: language.dir,
    isEnglish,
    locale: ownLocale,
    lists,
    name: language.name,
    has,
    langOf(text) {
      const lang = typeof text === "string" ? text : text?.[LANG];
      return lang === locale ? undefined : lang;
    },
    t(key, args) {
      // A message without values is no message of the format, so that it needs no parser.
      if (args === undefined) return messages[key] ?? english[key];
      return String(formatOf(key).format(args));
    },
    parts<T>(key: MessageKey, args: Readonly<Record<string, Rich<T>>>) {
      const formatted = formatOf(key).format<T>(args as Record<string, Rich<T>>);
      return Array.isArray(formatted) ? formatted : [formatted as string | T];
    },
  };
}

/** Library, loaded with the first message that has values. */
const library = lazy(() => require("intl-messageformat") as typeof import("intl-messageformat"));

function parse(message: string, locale: string, formatters: Formatters): IntlMessageFormat {
  return new (library().IntlMessageFormat)(message, locale, undefined, { formatters });
}

/** Number below which no language groups the digits of an integer. */
const UNGROUPED = 1_000;

/**
 * Returns the formatters for the messages of a locale. To make one takes many times as long as to use it, and to format
 * a small integer a hundred times as long as to write its digits.
 */
function createFormatters(locale: string): Formatters {
  const numbers = lazy(() => new Intl.NumberFormat(locale));
  const hasOtherDigits = lazy(() => numbers().resolvedOptions().numberingSystem !== "latn");
  const format = (value: number) =>
    Number.isInteger(value) && value >= 0 && value < UNGROUPED && !hasOtherDigits()
      ? String(value)
      : numbers().format(value);
  const plain = { format } as Intl.NumberFormat;
  const plurals = lazy(() => new Intl.PluralRules(locale));
  return {
    getNumberFormat: () => plain,
    getDateTimeFormat: (...of) => new Intl.DateTimeFormat(...of),
    getPluralRules: (_, options) =>
      options?.type === "ordinal" ? new Intl.PluralRules(locale, options) : plurals(),
  };
}
