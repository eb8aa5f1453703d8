import { LRUCache } from "lru-cache";
import { isUtcZone } from "../base/time";
import { type Days, daysIn } from "../base/zones";
import { formatLang, formatLocale } from "../languages/tags";

/** Formatters of times in the language of a page, in UTC and in the page's time zone. */
export interface PageTimes extends Days {
  /** Language tag of the formats. */
  locale: string;
  /** "21 Nov 2026, 14:32 UTC", followed by "· 15:32 CET" if the page has another time zone. */
  moment(iso: string): string;
  /** Span between two times, with the parts that they share written once. */
  range(fromIso: string, toIso: string): string;
  /** "14:32 UTC". */
  clock(iso: string): string;
  /** "21 Nov 2026" for a UTC day, or the UTC day of an instant. */
  day(iso: string): string;
  /** "21 Nov" for the UTC day of an instant, where the year is known. */
  dayOfYear(iso: string): string;
  /** "Nov" and "21" for the UTC day of an instant. */
  tile(iso: string): { month: string; day: string };
  /** "1 Nov 2026 to 21 Nov 2026". */
  span(fromDay: string, toDay: string): string;
  /** "1 – 21 Nov", where the year is known. */
  spanOfYear(fromDay: string, toDay: string): string;
  /** "November 2026" for a UTC month, or the UTC month of a day or an instant. */
  month(iso: string): string;
  /** Time zone of the page in addition to UTC; undefined for one of UTC's names. */
  zone: string | undefined;
  /** Language of the formats, from `formatLang`. */
  lang: string | undefined;
}

/** Number of languages and time zones whose formatters are cached. A page has up to 23 languages. */
const FORMATTERS_MAX = 100;

const DAY = { day: "numeric", month: "short", year: "numeric" } as const;
const CLOCK = { hour: "numeric", minute: "2-digit", timeZoneName: "short" } as const;

/** Returns the formatters for the language and the time zone of a page. */
export type TimesOf = (page: { locale: string; time_zone: string }) => PageTimes;

/**
 * Caches formatters, since creating one costs more than using it. Without this cache, a new status page
 * takes 1.17 times the processor time (200 components, 1,000 incidents).
 */
export function createTimesCache(): TimesOf {
  const cache = new LRUCache<string, PageTimes>({ max: FORMATTERS_MAX });
  return (page) => {
    const key = `${page.locale} ${page.time_zone}`;
    let times = cache.get(key);
    if (!times) cache.set(key, (times = createPageTimes(page)));
    return times;
  };
}

/** Time zones in the text of a time, such as "UTC" and "GMT+1". */
const ZONES = /[A-Z]\S*/g;
/** Sign without a width that is of a script from right to left. */
const RIGHT_TO_LEFT_MARK = "\u200f";

/**
 * Ends time zones, whose letters would show the numbers after them on the wrong side in a text from right to left. The
 * script of pages does the same.
 */
function endZones(text: string): string {
  return text.replace(ZONES, `$&${RIGHT_TO_LEFT_MARK}`);
}

/** Creates the formatters without a cache. */
export const createPageTimes: TimesOf = (page) => {
  const locale = formatLocale(page.locale);
  const format = (options: Intl.DateTimeFormatOptions, timeZone = "UTC") =>
    new Intl.DateTimeFormat(locale, { ...options, timeZone });
  const full = format({ ...DAY, ...CLOCK });
  const clock = format(CLOCK);
  const day = format(DAY);
  const dayOfYear = format({ day: "numeric", month: "short" });
  const month = format({ month: "long", year: "numeric" });
  const tileMonth = format({ month: "short" });
  const tileDay = format({ day: "numeric" });
  const { script = "" } = new Intl.Locale(locale).maximize();
  const write = ["Arab", "Hebr"].includes(script) ? endZones : (text: string) => text;
  const own = isUtcZone(page.time_zone) ? undefined : page.time_zone;
  const ownFull = format({ ...DAY, ...CLOCK }, own);
  const ownDay = format(DAY, own);
  const ownClock = format(CLOCK, own);

  /** Returns true if the page's time zone and UTC have the same day at all of these times. */
  const isSameDay = (...dates: Date[]) =>
    new Set(dates.flatMap((date) => [day.format(date), ownDay.format(date)])).size === 1;

  return {
    locale,
    moment(iso) {
      const date = new Date(iso);
      const utc = full.format(date);
      if (own === undefined) return write(utc);
      return write(`${utc} · ${(isSameDay(date) ? ownClock : ownFull).format(date)}`);
    },
    range(fromIso, toIso) {
      const [from, to] = [new Date(fromIso), new Date(toIso)];
      const utc = full.formatRange(from, to);
      if (own === undefined) return write(utc);
      const local = (isSameDay(from, to) ? ownClock : ownFull).formatRange(from, to);
      return write(`${utc} · ${local}`);
    },
    ...daysIn(page.time_zone),
    clock: (iso) => clock.format(new Date(iso)),
    day: (iso) => day.format(new Date(iso)),
    dayOfYear: (iso) => dayOfYear.format(new Date(iso)),
    tile: (iso) => ({
      month: tileMonth.format(new Date(iso)),
      day: tileDay.format(new Date(iso)),
    }),
    span: (from, to) => day.formatRange(new Date(from), new Date(to)),
    spanOfYear: (from, to) => dayOfYear.formatRange(new Date(from), new Date(to)),
    month: (iso) => month.format(new Date(iso.slice(0, 7))),
    zone: own,
    lang: formatLang(page.locale),
  };
};

interface ClockTimeProps {
  /** ISO 8601 in UTC. */
  at: string;
  /** End of the span; without it, the time is a single one. */
  until?: string;
  /** True if the script adds how long ago it was. */
  hasAge?: boolean;
  times: PageTimes;
}

/** Time or span in UTC. A script shows it in the reader's time zone. */
export function ClockTime({ at, until, hasAge, times }: ClockTimeProps) {
  return (
    <time dateTime={at} lang={times.lang} data-clock data-until={until} data-age={hasAge}>
      {until === undefined ? times.moment(at) : times.range(at, until)}
    </time>
  );
}
