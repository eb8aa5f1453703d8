/*
 * Words of public pages for components. Those of a document come from the context that `InWords` sets; without one, as in
 * the dashboard, they are English.
 */
import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import { lazy } from "../base/lazy";
import { percent } from "../base/numbers";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../base/time";
import { type MessageKey, type Words, wordsOf } from "../languages/words";
import { duration, lasting, latencyText } from "./times";

/** Values of a message: texts, numbers and elements, and functions for the tags of a message. */
type SaidArgs = Readonly<
  Record<string, ComponentChildren | ((content: ComponentChildren) => ComponentChildren)>
>;

/** Words with the formats of figures in their language. */
export interface PageWords extends Words {
  /** Returns a message as content of an element, in an element of its own if it is English in place of the language. */
  say(key: MessageKey, args?: SaidArgs): ComponentChildren;
  /** Space between two sentences, which Chinese and Japanese do without. */
  gap: string;
  /** "99.98 %", rounded down. */
  percent(share: number): string;
  /** "1 h 10 min" for a number of minutes. */
  duration(minutes: number): string;
  /** "42 min", "1 h 10 min" or "3 days 4 h" for the time between two ISO 8601 instants. */
  lasting(from: string, to: string): string;
  /** "124 ms" or "12.4 s". */
  latency(ms: number): string;
  /** Returns names and other elements as a list with "and": "A, B and C". */
  list(items: readonly ComponentChildren[]): ComponentChildren[];
}

const made = lazy(() => new WeakMap<Words, PageWords>());

/** Returns the words for a locale, as components use them. */
export function pageWordsOf(locale: string): PageWords {
  return withFormats(wordsOf(locale));
}

/** Adds the formats to words. */
export function withFormats(words: Words): PageWords {
  let result = made().get(words);
  if (!result) {
    result = {
      ...words,
      say: createSay(words),
      gap: /^(?:ja|zh)\b/.test(words.lang) ? "" : " ",
      ...formatsOf(words),
    };
    made().set(words, result);
  }
  return result;
}

function createSay(words: Words): PageWords["say"] {
  return (key, args) => {
    const said = args === undefined ? words.t(key) : words.parts<unknown>(key, args);
    if (words.has(key)) return said as ComponentChildren;
    return (
      <span lang="en" dir="ltr">
        {said as ComponentChildren}
      </span>
    );
  };
}

type Formats = Omit<PageWords, keyof Words | "say" | "gap">;

/** Formats of English, which the dashboard has too. */
const ENGLISH_FORMATS = {
  percent: (share: number) => percent(share, 2),
  duration,
  lasting,
  latency: latencyText,
};

function formatsOf(words: Words): Formats {
  const { locale } = words;
  /** Puts items, which need not be texts, in the places that the format gives to texts. */
  const list: Formats["list"] = (items) => {
    const left = [...items];
    return words
      .lists()
      .formatToParts(items.map(() => "-"))
      .map(({ type, value }) => (type === "element" ? left.shift() : value));
  };
  if (words.isEnglish) return { ...ENGLISH_FORMATS, list };
  const shares = lazy(
    () =>
      new Intl.NumberFormat(locale, {
        style: "percent",
        minimumFractionDigits: 2,
        maximumFractionDigits: 2,
        roundingMode: "floor",
      }),
  );
  const whole = lazy(() => new Intl.NumberFormat(locale, { style: "percent" }));
  const durations = lazy(() => new Intl.DurationFormat(locale, { style: "short" }));
  const unit = (name: "millisecond" | "second", digits: number) =>
    lazy(
      () =>
        new Intl.NumberFormat(locale, {
          style: "unit",
          unit: name,
          unitDisplay: "short",
          minimumFractionDigits: digits,
          maximumFractionDigits: digits,
        }),
    );
  const [milliseconds, seconds] = [unit("millisecond", 0), unit("second", 1)];

  const durationOf = (minutes: number) => {
    const all = Math.round(minutes);
    const [hours, rest] = [Math.floor(all / 60), all % 60];
    return durations().format(
      hours === 0 ? { minutes: rest } : rest === 0 ? { hours } : { hours, minutes: rest },
    );
  };

  return {
    percent: (share) => (share === 1 ? whole() : shares()).format(share),
    duration: durationOf,
    lasting(from, to) {
      const ms = Math.max(0, Date.parse(to) - Date.parse(from));
      if (ms < MINUTE_MS) return words.t("time.less_than_minute");
      if (ms < 2 * DAY_MS) return durationOf(Math.floor(ms / MINUTE_MS));
      const hours = Math.floor((ms % DAY_MS) / HOUR_MS);
      const days = Math.floor(ms / DAY_MS);
      return durations().format(hours === 0 ? { days } : { days, hours });
    },
    latency(ms) {
      const rounded = Math.round(ms);
      return rounded < 10_000 ? milliseconds().format(rounded) : seconds().format(rounded / 1_000);
    },
    list,
  };
}

const ReaderWords = createContext<PageWords | undefined>(undefined);

/** Sets the words of its content. */
export const InWords = ReaderWords.Provider;

/** Returns the words in which a component is rendered. */
export function useWords(): PageWords {
  return useContext(ReaderWords) ?? pageWordsOf("en");
}

/** Returns the English words of values by the group of their messages. */
export function englishWords<Group extends string, Value extends string>(
  group: Group,
  values: readonly (`${Group}.${Value}` extends MessageKey ? Value : never)[],
): Record<Value, string> {
  const { t } = wordsOf("en");
  const entries = values.map((value) => [value, t(`${group}.${value}` as MessageKey)]);
  return Object.fromEntries(entries) as Record<Value, string>;
}
