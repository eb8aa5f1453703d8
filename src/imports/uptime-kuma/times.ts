/** Earliest valid time, in unix ms. Uptime Kuma exists since 2021: earlier times are of wrong clocks. */
export const FIRST_TIME = Date.UTC(2021, 0, 1);

/** Form in which Uptime Kuma writes times, in UTC. Older versions write no milliseconds. */
const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{3})?$/;

/** Returns a time of Uptime Kuma in unix ms; undefined for everything else. */
export function parseTime(value: unknown): number | undefined {
  if (typeof value !== "string" || !TIME.test(value)) return undefined;
  const time = Date.parse(`${value}Z`);
  return Number.isNaN(time) ? undefined : time;
}

/** Returns a time (unix ms) as Uptime Kuma writes it. Texts of later times sort behind it. */
export function textOfTime(time: number): string {
  const [date, clock = ""] = new Date(time).toISOString().split("T");
  // A time without milliseconds sorts before the same one with them.
  return `${date} ${clock.slice(0, clock.endsWith(".000Z") ? 8 : 12)}`;
}
