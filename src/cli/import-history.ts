import type { ImportReport } from "../base/import-report";
import type { Found } from "../imports/found";
import { type HistoryStep, importHistory } from "../imports/history/write";
import type { ImportOptions } from "../imports/options";
import type { Installation } from "../installation";
import type { Clock } from "../base/clock";
import { plural } from "../base/text";
import { MINUTE_MS, SECOND_MS } from "../base/time";
import type { Output } from "./command";

/** Interval of lines without a terminal, and of changes on one. */
const LINE_MS = 10 * SECOND_MS;
const SHOWN_MS = 200;
/** Time after which the rest can be estimated. */
const ESTIMATE_AFTER_MS = 3 * SECOND_MS;

/** Writes the history of an import, and shows how far it is. Returns the report with it. */
export async function writeHistory(
  ctx: Installation["ctx"],
  found: Found,
  options: ImportOptions,
  report: ImportReport,
  output: Output,
): Promise<ImportReport> {
  if (report.dry_run || report.history === null) return report;
  using progress = showProgress(output, ctx.clock);
  try {
    return await importHistory(ctx, found, options, report, progress.step);
  } catch (error) {
    output.err("All but the history is imported. Run the same command again to go on with it.");
    throw error;
  }
}

/** Shows how far a history is: on a terminal in one line that changes, else in a line every ten seconds. */
function showProgress(output: Output, clock: Clock) {
  const show = output.show?.bind(output);
  const startedAt = clock.monotonic();
  let shownAt = show ? Number.NEGATIVE_INFINITY : startedAt;
  let firstRows: number | undefined;
  return {
    step(step: HistoryStep): void {
      const now = clock.monotonic();
      firstRows ??= step.rows;
      if (now - shownAt < (show ? SHOWN_MS : LINE_MS)) return;
      shownAt = now;
      const text = describeStep(step, { rows: step.rows - firstRows, ms: now - startedAt });
      if (show) show(text);
      else output.err(text);
    },
    [Symbol.dispose]: () => show?.(""),
  };
}

/** Describes a step. `done` is what this run has read, and the time that took. */
function describeStep(
  { isOlder, monitor, monitors, rows, totalRows }: HistoryStep,
  done: { rows: number; ms: number },
): string {
  const parts = [
    `monitor ${monitor}/${monitors}${isOlder ? " before the last 90 days" : ""}`,
    `${rows.toLocaleString("en")} of ~${totalRows.toLocaleString("en")} beats`,
  ];
  if (done.rows > 0 && done.ms >= ESTIMATE_AFTER_MS) {
    parts.push(`${durationInWords(((totalRows - rows) * done.ms) / done.rows)} left`);
  }
  return parts.join(" · ");
}

function durationInWords(ms: number): string {
  if (ms < MINUTE_MS) return "less than a minute";
  return ms < 100 * MINUTE_MS
    ? `${Math.round(ms / MINUTE_MS)} min`
    : plural(Math.round(ms / (60 * MINUTE_MS)), "hour");
}
