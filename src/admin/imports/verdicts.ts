import type { ImportItem, Verdict } from "../../domain/import-report";
import type { Tone } from "../../domain/tone";

interface VerdictWords {
  label: string;
  tone: Tone;
  isPaused?: true;
  /** Sentence about the objects with this verdict. */
  hint: string;
}

/** Verdicts in words, those that need a person first. */
export const VERDICT_WORDS: Readonly<Record<Verdict, VerdictWords>> = {
  not_moved: {
    label: "Not moved",
    tone: "major",
    hint: "Cannot be moved. The reason says why.",
  },
  held: {
    label: "Held",
    tone: "partial",
    hint: "Kept with all settings as a monitor that cannot run yet. A later version can convert it.",
  },
  disabled: {
    label: "Disabled",
    tone: "none",
    isPaused: true,
    hint: "Moved and switched off. The reason says what to do before it is switched on.",
  },
  changed: {
    label: "Changed",
    tone: "degraded",
    hint: "Moved with differences, which are listed.",
  },
  kept: {
    label: "Kept",
    tone: "none",
    hint: "Edited or deleted here after an earlier import, or no longer in the source, so left as it is.",
  },
  updated: {
    label: "Updated",
    tone: "maint",
    hint: "Imported before, and brought up to date with the source.",
  },
  created: { label: "Created", tone: "ok", hint: "Moved as it is." },
  unchanged: { label: "Unchanged", tone: "none", hint: "Imported before, and the same since." },
};

/** Verdicts in their order on screens. */
export const VERDICT_ORDER = Object.keys(VERDICT_WORDS) as readonly Verdict[];

const RANKS = new Map(VERDICT_ORDER.map((verdict, rank) => [verdict, rank]));

/** Compares items by their verdicts, those that need a person first. */
export function byVerdict(a: ImportItem, b: ImportItem): number {
  return (RANKS.get(a.verdict) ?? 0) - (RANKS.get(b.verdict) ?? 0);
}
