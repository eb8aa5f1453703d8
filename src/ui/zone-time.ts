const FORMAT = {
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
} as const;

/**
 * A moment, in unix ms, by the clock of a time zone: "Europe/Berlin: Tue, 10 Mar 2026, 15:00 CET".
 * `client.js` writes the same.
 */
export function zoneTime(at: number, timeZone: string): string {
  return `${timeZone}: ${formatOf(timeZone).format(at)}`;
}

/** A span between two moments, in unix ms, by the clock of a time zone, which it names at its end. */
export function zoneSpan(from: number, until: number, timeZone: string): string {
  return formatOf(timeZone).formatRange(from, until);
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat("en-GB", { ...FORMAT, timeZone });
}
