import { toIso } from "../../base/time";

/** Returns a time (unix ms) as `YYYY-MM-DD HH:mm:ss` in UTC, with milliseconds if asked. */
export function utcText(ms: number, hasMilliseconds = false): string {
  return toIso(ms)
    .slice(0, hasMilliseconds ? 23 : 19)
    .replace("T", " ");
}

/** Returns a time (unix ms) as `YYYY-MM-DD HH:mm:ss` in a time zone. */
export function zonedText(ms: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone,
    dateStyle: "short",
    timeStyle: "medium",
  });
  return format.format(ms);
}

/** Returns the offset of a time zone from UTC at a time (unix ms), such as `+01:00`. */
export function offsetOf(ms: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" });
  const name = format.formatToParts(ms).find(({ type }) => type === "timeZoneName")?.value ?? "";
  return name.replace("GMT", "") || "+00:00";
}
