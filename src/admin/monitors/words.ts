import type { MonitorRecord } from "../../features/monitors/records";
import { type MonitorConfig, originOf, probeOf, scheduleOf } from "../../features/monitors/probes";
import type { MonitorType } from "../../base/status";
import type { Range } from "./range";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../base/time";

/** Returns the label of a monitor type. */
export function typeLabel(type: MonitorType): string {
  return probeOf(type).label;
}

/** Returns the type of a monitor as text: "TCP port"; of an imported one "MongoDB, from Uptime Kuma". */
export function typeInWords({ type, config }: MonitorRecord["row"]): string {
  if (type !== "unsupported") return typeLabel(type);
  const origin = originOf(config);
  return `${origin.type}, from ${origin.source}`;
}

/** Returns a short description of a monitor's target. */
export function targetOf({ type, config }: MonitorRecord["row"]): string {
  return probeOf(type).targetOf(config as MonitorConfig);
}

const UNITS = [
  { ms: DAY_MS, word: "d" },
  { ms: HOUR_MS, word: "h" },
  { ms: MINUTE_MS, word: "min" },
  { ms: SECOND_MS, word: "s" },
] as const;

/** Returns a duration in its two largest units: "42 s", "3 min 20 s", "1 h", "2 d 4 h". */
export function timeInWords(ms: number): string {
  const first = UNITS.findIndex((unit) => ms >= unit.ms);
  const unit = UNITS[first];
  if (!unit) return `${Math.max(0, Math.round(ms))} ms`;
  const next = UNITS[first + 1];
  const rest = next ? Math.floor((ms % unit.ms) / next.ms) : 0;
  const whole = `${Math.floor(ms / unit.ms)} ${unit.word}`;
  return next && rest > 0 ? `${whole} ${rest} ${next.word}` : whole;
}

/**
 * Returns the interval of a monitor as text: "every 1 min"; for a job with a schedule "at 0 3 * * * (UTC)",
 * without a deadline "at any time".
 */
export function intervalInWords({ intervalSeconds, config }: MonitorRecord["row"]): string {
  const declared = scheduleOf(config);
  if (declared) return `at ${declared.schedule} (${declared.time_zone})`;
  return intervalSeconds === null
    ? "at any time"
    : `every ${timeInWords(intervalSeconds * SECOND_MS)}`;
}

/** Returns a range as the end of a sentence: "in the last 24 hours". */
export function inRange({ label, isZoomed }: Pick<Range, "label" | "isZoomed">): string {
  return isZoomed ? "in this time" : `in the ${label}`;
}

/** Returns a response time as text: "120 ms", "1.25 s", "4 min 13 s". */
export function latencyInWords(ms: number): string {
  if (ms >= MINUTE_MS) return timeInWords(ms);
  if (ms < SECOND_MS) return `${Math.round(ms * 10) / 10} ms`;
  return `${(ms / SECOND_MS).toLocaleString("en", { maximumFractionDigits: 2 })} s`;
}
