import type { ComponentStatus } from "../../../domain/component-status";
import type { Impact } from "../../../domain/incident-status";

/** Severity of a message, which decides its colour. */
export type Tone = ComponentStatus | "unknown";

/** Colours of the light theme. */
export const TONE_COLOURS: Readonly<Record<Tone, string>> = {
  operational: "#1a7f4b",
  under_maintenance: "#2563c4",
  degraded_performance: "#8f6400",
  partial_outage: "#b94a00",
  major_outage: "#c2272d",
  unknown: "#6b7672",
};

/** Emoji for services without colours. */
export const TONE_EMOJI: Readonly<Record<Tone, string>> = {
  operational: "🟢",
  under_maintenance: "🔵",
  degraded_performance: "🟡",
  partial_outage: "🟠",
  major_outage: "🔴",
  unknown: "⚪",
};

/** Tone of an impact: that of the worst component status that leads to it. */
export const IMPACT_TONES: Readonly<Record<Impact, Tone>> = {
  none: "unknown",
  minor: "degraded_performance",
  major: "partial_outage",
  critical: "major_outage",
};
