/*
 * Time zones of the IANA database: their names, and the times that clocks in them show. Times are unix ms. A time that
 * a clock shows is given as the ms since 1970 on that clock.
 */
import { LRUCache } from "lru-cache";
import { lazy } from "./lazy";
import { DAY_MS, isUtcZone, startOfDay, toIso } from "./time";

/** Maximum length of the name of a time zone. */
export const TIME_ZONE_MAX = 64;

/** Returns the names of all time zones, without aliases. */
export const timeZones = lazy((): readonly string[] => [
  "UTC",
  ...Intl.supportedValuesOf("timeZone"),
]);

/** Returns the time zone that a person means: "são paulo" is America/Sao_Paulo. Other names are returned unchanged. */
export function zoneNamed(typed: string): string {
  // The time of the normalisation grows with the square of the length.
  if (typed.length > 2 * TIME_ZONE_MAX) return typed;
  const text = typed.trim();
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "");
  const city = `/${plain.replaceAll(" ", "_").toLowerCase()}`;
  return spellingOf(text) ?? timeZones().find((name) => name.toLowerCase().endsWith(city)) ?? text;
}

/** Returns true if a name is a time zone of this build's IANA database, or an alias of one. */
export function isTimeZone(name: string): boolean {
  return spellingOf(name) !== undefined;
}

/** Returns the name of a time zone or an alias as the database spells it. */
function spellingOf(name: string): string | undefined {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** Stored time zone of users who never chose one. */
export const UNCHOSEN_ZONE = "UTC";

/** Returns a chosen time zone as it is stored: UTC by another of its names. */
export function chosenZone(name: string): string {
  return name === UNCHOSEN_ZONE ? "Etc/UTC" : name;
}

/** Returns a stored time zone; UTC for one of another build that this one does not know. */
export function knownZone(name: string): string {
  return isTimeZone(name) ? name : "UTC";
}

/** Returns the name of a time zone as screens write it. UTC has many names. */
export function zoneLabel(timeZone: string): string {
  return isUtcZone(timeZone) ? "UTC" : timeZone;
}

/** Returns the time that a clock shows as text: "2026-11-21T15:32:05". */
export function localTime(at: number, timeZone: string): string {
  return toIso(shownAt(at, timeZone)).slice(0, 19);
}

/** Returns the time that a clock shows. */
export function shownAt(at: number, timeZone: string): number {
  return isUtcZone(timeZone) ? at : at + offsetOf(zonedAt(at, timeZone));
}

/** Returns all instants at which a clock shows a time: none in an hour that it skips, two in one that it repeats. */
export function instantsOf(shown: number, timeZone: string): readonly number[] {
  const time = plainTime(shown);
  const [first, second] = (["earlier", "later"] as const).map((disambiguation) =>
    time.toZonedDateTime(timeZone, { disambiguation }),
  );
  if (!first || !second || !first.toPlainDateTime().equals(time)) return [];
  return [...new Set([first.epochMilliseconds, second.epochMilliseconds])];
}

/** Returns when a clock first shows a time, or the end of the hour that it skips. */
export function firstShown(shown: number, timeZone: string): number {
  const time = plainTime(shown);
  const zoned = time.toZonedDateTime(timeZone, { disambiguation: "earlier" });
  const isSkipped = !zoned.toPlainDateTime().equals(time);
  const at = isSkipped ? zoned.getTimeZoneTransition("next") : zoned;
  return (at ?? zoned).epochMilliseconds;
}

/** Days in a time zone. A day is given as the midnight in UTC of its date. */
export interface Days {
  /** Returns the day of a time. */
  dayOf(at: number): number;
  /** Returns the first millisecond of a day, or of the next one for a day that the zone left out. */
  startOf(day: number): number;
}

export function daysIn(timeZone: string): Days {
  return {
    dayOf: (at) => startOfDay(shownAt(at, timeZone)),
    startOf: (day) =>
      isUtcZone(timeZone)
        ? day
        : plainTime(day).toPlainDate().toZonedDateTime(timeZone).epochMilliseconds,
  };
}

/** Returns the end of a day `YYYY-MM-DD` that exists, which is the start of the next one. */
export function endOfDay(day: string, timeZone: string): number {
  return daysIn(timeZone).startOf(Date.parse(day) + DAY_MS);
}

/** Lists the round times of a clock from `from` and before `to`, such as each full hour for a step of an hour. */
export function roundTimes(
  { from, to }: { from: number; to: number },
  stepMs: number,
  timeZone: string,
): number[] {
  const times = new Set<number>();
  const last = shownAt(to, timeZone);
  let shown = Math.ceil(shownAt(from, timeZone) / stepMs) * stepMs;
  for (; shown < last; shown += stepMs) times.add(firstShown(shown, timeZone));
  return [...times].filter((at) => at >= from && at < to);
}

/** Abbreviation of a zone at a time, if English or the language has one, and its offset: "CET" and "UTC+1". */
interface ZoneName {
  name: string | undefined;
  offset: string;
}

/** Names by language, zone, offset and year. Computing one takes a hundred times as long as a look-up. */
const zoneNames = lazy(() => new LRUCache<string, ZoneName>({ max: 500 }));

/** Returns the name of a zone at a time. Without an abbreviation of its own, a zone is named by its offset. */
export function zoneNameAt(at: number, timeZone: string, locale = "en-GB"): ZoneName {
  if (isUtcZone(timeZone)) return { name: undefined, offset: "UTC" };
  const { offset, year } = zonedAt(at, timeZone);
  const key = `${locale} ${timeZone} ${offset} ${year}`;
  let found = zoneNames().get(key);
  if (!found) zoneNames().set(key, (found = findZoneName(at, timeZone, locale)));
  return found;
}

function findZoneName(at: number, timeZone: string, locale: string): ZoneName {
  const part = (language: string, timeZoneName: "short" | "shortOffset") =>
    new Intl.DateTimeFormat(language, { timeZone, timeZoneName })
      .formatToParts(at)
      .find(({ type }) => type === "timeZoneName")?.value ?? "";
  const offset = part("en-US", "shortOffset").replace(/^GMT(?=[+-])/, "UTC");
  const name = [locale, "en-US"]
    .map((language) => part(language, "short"))
    .find((each) => !/\p{N}/u.test(each));
  return { name, offset: offset === "GMT" ? "UTC+0" : offset };
}

/** Returns an instant in a time zone. Points of a chart lie between two milliseconds. */
export function zonedAt(at: number, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(Math.floor(at)).toZonedDateTimeISO(timeZone);
}

/** Returns the offset of a clock from UTC in ms. */
export function offsetOf(zoned: Temporal.ZonedDateTime): number {
  return zoned.offsetNanoseconds / 1e6;
}

function plainTime(shown: number): Temporal.PlainDateTime {
  return zonedAt(shown, "UTC").toPlainDateTime();
}
