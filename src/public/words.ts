import type { Impact, IncidentStatus, MaintenanceStatus } from "../base/status";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../base/time";
import { plural } from "../base/text";
import { duration } from "../ui/times";

export const INCIDENT_WORDS: Record<IncidentStatus, string> = {
  investigating: "Investigating",
  identified: "Identified",
  monitoring: "Monitoring",
  resolved: "Resolved",
};

export const MAINTENANCE_WORDS: Record<MaintenanceStatus, string> = {
  scheduled: "Scheduled",
  in_progress: "In progress",
  verifying: "Verifying",
  completed: "Completed",
  cancelled: "Cancelled",
};

export const IMPACT_WORDS: Record<Impact, string> = {
  none: "No impact",
  minor: "Minor impact",
  major: "Major impact",
  critical: "Critical impact",
};

/** Formats the time between two ISO 8601 instants: "42 min", "1 h 10 min", "3 days 4 h". */
export function lasting(from: string, to: string): string {
  const ms = Math.max(0, Date.parse(to) - Date.parse(from));
  if (ms < MINUTE_MS) return "less than a minute";
  if (ms < 2 * DAY_MS) return duration(Math.floor(ms / MINUTE_MS));
  const hours = Math.floor((ms % DAY_MS) / HOUR_MS);
  return `${plural(Math.floor(ms / DAY_MS), "day")}${hours > 0 ? ` ${hours} h` : ""}`;
}

/** "124 ms", and "12.4 s" from ten seconds on. */
export function latencyText(ms: number): string {
  const whole = Math.round(ms);
  return whole < 10_000 ? `${whole} ms` : `${(whole / 1_000).toFixed(1)} s`;
}
