import type { ImportItem, Verdict } from "../../base/import-report";
import type { Tone } from "../../base/status";

interface VerdictWords {
  label: string;
  tone: Tone;
  isPaused?: true;
}

/** Verdicts in words, those that need a person first. */
export const VERDICT_WORDS: Readonly<Record<Verdict, VerdictWords>> = {
  not_moved: {
    label: "Not moved",
    tone: "major",
  },
  held: {
    label: "Held",
    tone: "partial",
  },
  disabled: {
    label: "Disabled",
    tone: "none",
    isPaused: true,
  },
  changed: {
    label: "Changed",
    tone: "degraded",
  },
  kept: {
    label: "Kept",
    tone: "none",
  },
  updated: {
    label: "Updated",
    tone: "maint",
  },
  created: { label: "Created", tone: "ok" },
  unchanged: { label: "Unchanged", tone: "none" },
};

/** Verdicts in their order on screens. */
export const VERDICT_ORDER = Object.keys(VERDICT_WORDS) as readonly Verdict[];

const RANKS = new Map(VERDICT_ORDER.map((verdict, rank) => [verdict, rank]));

/** Compares items by their verdicts, those that need a person first. */
export function byVerdict(a: ImportItem, b: ImportItem): number {
  return (RANKS.get(a.verdict) ?? 0) - (RANKS.get(b.verdict) ?? 0);
}
