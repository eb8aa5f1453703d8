import type { ImportHistory } from "../../../base/import-report";
import { DAY_MS, startOfDay, toIso } from "../../../base/time";
import type { HistoryRange } from "../source";
import type { Part, PastRows } from "./part";
import type { ProgressRow } from "./progress-store";

/** Returns what histories have together. `leftOut` are the numbers of rows of no monitor, by reason. */
export function historyOf(
  all: readonly ProgressRow[],
  leftOut: Readonly<Record<string, number>>,
): ImportHistory {
  const ranges = all.flatMap((progress) => rangeOf(progress) ?? []);
  const range = ranges.length === 0 ? null : ranges.reduce(joined);
  const results = all.reduce((sum, progress) => sum + progress.results, 0);
  const skipped = addCounts([...all.map((progress) => progress.skipped), leftOut]);
  return { results, ...presentRange(range), skipped };
}

/** Returns the progress with a part of which nothing is written. */
export function begun(before: ProgressRow, part: Part): ProgressRow {
  return { ...before, part, step: before.step + 1 };
}

/** Returns the progress after rows of a part, which may be its last ones. */
export function progressAfter(
  before: ProgressRow,
  part: Part,
  { rows, results, range, skipped, reached, timeline }: PastRows,
  isDone: boolean,
): ProgressRow {
  const ranges = [rangeOf(before), range].filter((each) => each !== null);
  const known = ranges.length === 0 ? null : ranges.reduce(joined);
  return {
    ...before,
    writtenFrom: isDone ? part.from : before.writtenFrom,
    part: isDone ? null : { ...part, reached, timeline },
    step: before.step + 1,
    rows: before.rows + rows,
    results: before.results + results,
    firstAt: known?.from ?? null,
    lastAt: known?.until ?? null,
    skipped: addCounts([before.skipped, skipped]),
  };
}

function rangeOf({ firstAt, lastAt }: ProgressRow): HistoryRange | null {
  return firstAt === null || lastAt === null ? null : { from: firstAt, until: lastAt };
}

function joined(a: HistoryRange, b: HistoryRange): HistoryRange {
  return { from: Math.min(a.from, b.from), until: Math.max(a.until, b.until) };
}

/** Returns a range as a report shows it. */
export function presentRange(range: HistoryRange | null) {
  if (!range) return { days: 0, from: null, until: null };
  const { from, until } = range;
  const days = (startOfDay(until) - startOfDay(from)) / DAY_MS + 1;
  return { days, from: toIso(from), until: toIso(until) };
}

/** Adds up numbers by their names. */
function addCounts(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const total: Record<string, number> = {};
  for (const [name, count] of all.flatMap((counts) => Object.entries(counts))) {
    total[name] = (total[name] ?? 0) + count;
  }
  return total;
}
