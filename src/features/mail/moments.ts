import { isUtcZone } from "../../base/time";

/** Formatters of times in the language and the time zone of a page. */
export interface Moments {
  /** "22 Nov 2026, 15:32 CET (UTC+1)". */
  moment(ms: number): string;
  /** "22 Nov 2026, 15:32 – 17:00 CET (UTC+1)". */
  range(fromMs: number, untilMs: number): string;
  /** "22 Nov 2026, 15:32 CET", for subjects. */
  short(ms: number): string;
}

const FULL = {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "numeric",
  minute: "2-digit",
} as const;

export function createMoments(page: { locale: string; timeZone: string }): Moments {
  // English without a region is written as on the page: day first, 24 hours.
  const locale = page.locale === "en" ? "en-GB" : page.locale;
  const timeZone = isUtcZone(page.timeZone) ? "UTC" : page.timeZone;
  const full = new Intl.DateTimeFormat(locale, { ...FULL, timeZone });

  /** Returns the abbreviation of the zone, if it has one, and its offset. */
  function zoneAt(ms: number): { name: string | undefined; offset: string } {
    if (timeZone === "UTC") return { name: undefined, offset: "UTC" };
    const offset = zonePart("en-US", "shortOffset", ms).replace(/^GMT(?=[+-])/, "UTC");
    const names = [locale, "en-US"].map((language) => zonePart(language, "short", ms));
    // Without an abbreviation of its own, a zone is named by its offset.
    const name = names.find((each) => !/\p{N}/u.test(each));
    return { name, offset: offset === "GMT" ? "UTC+0" : offset };
  }

  function zonePart(language: string, timeZoneName: "short" | "shortOffset", ms: number): string {
    const parts = new Intl.DateTimeFormat(language, { timeZone, timeZoneName }).formatToParts(ms);
    return parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
  }

  function withZone(text: string, ms: number): string {
    const { name, offset } = zoneAt(ms);
    return name === undefined ? `${text} ${offset}` : `${text} ${name} (${offset})`;
  }

  return {
    moment: (ms) => withZone(full.format(ms), ms),
    range: (fromMs, untilMs) => withZone(full.formatRange(fromMs, untilMs), fromMs),
    short(ms) {
      const { name, offset } = zoneAt(ms);
      return `${full.format(ms)} ${name ?? offset}`;
    },
  };
}
