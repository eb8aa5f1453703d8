import type { Found } from "../../src/imports/found";
import { DAY_MS, HOUR_MS, MINUTE_MS, startOfDay } from "../../src/base/time";
import { type Beat, foundPast, pastMonitor, pastSource, regularBeats } from "./past-source";

/** Monitors of `longFound`. */
export const LONG_MONITORS = ["api", "web"].map((name) =>
  pastMonitor(name, { interval_seconds: 1_800 }),
);

/** Returns beats of 120 days, in the last week one a minute, with an outage each week whose first hour is unconfirmed. */
export function longPast(now: number, shiftHours = 0): Beat[] {
  const lastWeek = now - 7 * DAY_MS;
  const make = (index: number, at: number) => {
    const place = (at - shiftHours * HOUR_MS) % (7 * DAY_MS);
    if (place >= 5 * HOUR_MS) return { kind: "up", latencyMs: (index * 37) % 500 } as const;
    if (place < HOUR_MS) return { kind: "pending" } as const;
    return { kind: "down", message: "refused" } as const;
  };
  return [
    ...regularBeats(
      { from: startOfDay(now) - 120 * DAY_MS, until: lastWeek },
      30 * MINUTE_MS,
      make,
    ),
    ...regularBeats({ from: lastWeek, until: now }, MINUTE_MS, make),
  ];
}

/** Returns the pasts of `LONG_MONITORS`, by their keys. */
export function longPasts(now: number) {
  return { "monitor:api": { beats: longPast(now) }, "monitor:web": { beats: longPast(now, 75) } };
}

/** Returns a source of two monitors with such histories. */
export function longFound(now: number): Found {
  return foundPast(LONG_MONITORS, pastSource(longPasts(now)));
}
