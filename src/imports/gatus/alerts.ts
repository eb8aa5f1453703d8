import { DESCRIPTION_MAX } from "../../base/texts";
import { cutText, textChange } from "../options";
import type { Notes } from "./notes";
import { type Alert, ALERT, type Place, readTable, type Yaml } from "./yaml";

/** Alerts that are the default of a provider, by its name. */
export type DefaultAlerts = ReadonlyMap<string, Alert>;

/** Reads the alerts of an endpoint that are switched on, with the defaults of their providers. Throws a WrongField. */
export function readAlerts(
  alerts: readonly Yaml[] | undefined,
  defaults: DefaultAlerts,
  place: Place,
): Alert[] {
  return (alerts ?? [])
    .map((each) => {
      const own = readTable(ALERT, each, { ...place, path: `${place.path}.alerts[]` });
      const usual = defaults.get(own.type ?? "");
      return usual ? withDefaults(own, usual) : own;
    })
    .filter(({ enabled = true }) => enabled);
}

/** Returns an alert with the fields of another one where it has none. Numbers of 0 count as none. */
function withDefaults(own: Alert, usual: Alert): Alert {
  return {
    ...own,
    enabled: own.enabled ?? usual.enabled,
    "send-on-resolved": own["send-on-resolved"] ?? usual["send-on-resolved"],
    description: own.description ?? usual.description,
    "failure-threshold": own["failure-threshold"] || usual["failure-threshold"],
    "success-threshold": own["success-threshold"] || usual["success-threshold"],
    "minimum-reminder-interval":
      own["minimum-reminder-interval"] || usual["minimum-reminder-interval"],
  };
}

/** Consecutive results without alerts, and those of an alert without numbers. */
const WITHOUT = { failures: 3, successes: 1 };
const USUAL = { failures: 3, successes: 2 };

const THRESHOLDS = { min: 1, max: 100 };
const REMINDERS = { min: 300, max: 604_800 };

/** Returns the thresholds and the reminders of a monitor: the smallest of its alerts. */
export function thresholdsOf(alerts: readonly Alert[], notes: Notes) {
  const numbersOf = (name: "failure-threshold" | "success-threshold", usual: number) =>
    alerts.map((alert) => Math.max(alert[name] ?? 0, 0) || usual);
  const failures = leastOf(numbersOf("failure-threshold", USUAL.failures));
  const successes = leastOf(numbersOf("success-threshold", USUAL.successes));
  const intervals = alerts.flatMap((alert) => alert["minimum-reminder-interval"] || []);
  const isAny = alerts.length > 0;
  return {
    failure_threshold: isAny
      ? notes.limited("alerts[].failure-threshold", failures, THRESHOLDS)
      : WITHOUT.failures,
    success_threshold: isAny
      ? notes.limited("alerts[].success-threshold", successes, THRESHOLDS)
      : WITHOUT.successes,
    reminder_seconds:
      intervals.length > 0
        ? notes.limited("alerts[].minimum-reminder-interval", leastOf(intervals) / 1_000, REMINDERS)
        : 0,
  };
}

/** Returns the least of any number of numbers; infinity without any. */
function leastOf(numbers: readonly number[]): number {
  return numbers.reduce((least, number) => Math.min(least, number), Infinity);
}

/** Returns the descriptions of alerts as notes for colleagues. */
export function notesOf(alerts: readonly Alert[], notes: Notes): string | null {
  const all = [...new Set(alerts.flatMap(({ description }) => description || []))].join("\n");
  const text = cutText(all, DESCRIPTION_MAX);
  const reason = `Notes have at most ${DESCRIPTION_MAX} characters.`;
  notes.changes.push(...textChange("alerts[].description", all, text, reason));
  return text || null;
}
