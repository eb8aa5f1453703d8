import type { ComponentStatus } from "./component-status";
import type { Impact } from "./incident-status";
import type { MonitorState } from "./monitor-state";

/**
 * Severities, best to worst; `none` stands for no information. Each has one colour and one shape, which all
 * statuses, impacts, states and messages use.
 */
export const TONES = ["none", "ok", "maint", "degraded", "partial", "major"] as const;

export type Tone = (typeof TONES)[number];

export const STATUS_TONES: Readonly<Record<ComponentStatus, Tone>> = {
  operational: "ok",
  under_maintenance: "maint",
  degraded_performance: "degraded",
  partial_outage: "partial",
  major_outage: "major",
};

export const IMPACT_TONES: Readonly<Record<Impact, Tone>> = {
  none: "none",
  minor: "degraded",
  major: "partial",
  critical: "major",
};

export const MONITOR_TONES: Readonly<Record<MonitorState, Tone>> = {
  up: "ok",
  maintenance: "maint",
  degraded: "degraded",
  down: "major",
  pending: "none",
  no_data: "none",
  paused: "none",
  unreachable: "none",
};

/** Colours of texts in the light theme, for messages, badges and feeds: at least 4.5 : 1 on white. */
export const TONE_COLOURS: Readonly<Record<Tone, string>> = {
  none: "#5c6963",
  ok: "#15753f",
  maint: "#2059b8",
  degraded: "#7f5700",
  partial: "#ab4100",
  major: "#b8202b",
};

/** Colours of texts in the dark theme: at least 4.5 : 1 on #121212. */
export const TONE_COLOURS_IN_DARK: Readonly<Record<Tone, string>> = {
  none: "#98a69f",
  ok: "#57cb91",
  maint: "#86b3ff",
  degraded: "#e3b64a",
  partial: "#ff9f66",
  major: "#ff8585",
};

/** Colours of shapes in the light theme: at least 3 : 1 on light and on dark tabs of browsers. */
export const TONE_FILLS: Readonly<Record<Tone, string>> = {
  none: "#76837d",
  ok: "#3b9c68",
  maint: "#4b86ea",
  degraded: "#b57a00",
  partial: "#e2661a",
  major: "#d93843",
};

/** Returns the worst of some tones; `none` without any. */
export function worstTone(tones: Iterable<Tone>): Tone {
  let worst = 0;
  for (const tone of tones) worst = Math.max(worst, TONES.indexOf(tone));
  return TONES[worst] ?? "none";
}
