import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../base/time";
import { sketchOf } from "../../../base/sketch";
import type { CheckRow, RollupRow } from "../../monitors/checks-store";
import { type Figures, figuresToRow, mergeFigures } from "../../monitors/overview";
import { BEAT, type HistorySum } from "../source";
import type { DayBeats } from "./day-beats";
import type { Sums } from "./sums";

/** Times (unix ms) from which results and sums are written, and before which sums are. */
export interface Limits {
  checksFrom: number;
  minutesFrom: number;
  hoursFrom: number;
  /** Start of the hour from which results are rolled up here. */
  rolledFrom: number;
}

/** Rows of monitors, and the number of results that are in them. */
export interface FoldedDay {
  checks: CheckRow[];
  rollups: RollupRow[];
  results: number;
}

/**
 * Makes the rows of a monitor's day. A minute, an hour and a day each has the sum of the source if that counts more
 * results than there are beats, since older beats may have been deleted.
 */
export function foldDay(
  num: number,
  day: number,
  beats: DayBeats,
  sums: Sums,
  limits: Limits,
): FoldedDay {
  const rollups: RollupRow[] = [];
  const save = (size: number, at: number, figures: Figures) =>
    rollups.push({ monitorNum: num, size, at, ...figuresToRow(figures) });
  const hours: Figures[] = [];
  let next = 0;
  for (let hour = day; hour < day + DAY_MS; hour += HOUR_MS) {
    const from = next;
    next = indexAfter(beats, next, hour + HOUR_MS);
    const figures = largest(figuresOfBeats(beats, from, next), sums.hours.get(hour));
    if (figures.checks === 0) continue;
    hours.push(figures);
    if (hour >= limits.rolledFrom) continue;
    if (hour >= limits.minutesFrom) {
      for (const minute of foldMinutes(hour, { beats, from, sums })) {
        save(MINUTE_MS, minute.at, minute.figures);
      }
    }
    if (hour >= limits.hoursFrom) save(HOUR_MS, hour, figures);
  }
  const whole = largest(mergeFigures(hours), sums.days.get(day));
  if (whole.checks > 0 && day + DAY_MS <= limits.rolledFrom) save(DAY_MS, day, whole);
  return { checks: checksOf(num, beats, limits.checksFrom), rollups, results: whole.checks };
}

/** Returns the figures of the minutes of an hour that have results. `from` is the first beat of the hour. */
function foldMinutes(
  hour: number,
  { beats, from, sums }: { beats: DayBeats; from: number; sums: Sums },
) {
  const minutes: { at: number; figures: Figures }[] = [];
  let next = from;
  for (let at = hour; at < hour + HOUR_MS; at += MINUTE_MS) {
    const first = next;
    next = indexAfter(beats, next, at + MINUTE_MS);
    const sum = sums.minutes.get(at);
    if (next === first && !sum) continue;
    const figures = largest(figuresOfBeats(beats, first, next), sum);
    if (figures.checks > 0) minutes.push({ at, figures });
  }
  return minutes;
}

/** Returns the first index from `from` on whose beat is not before a time. */
function indexAfter(beats: DayBeats, from: number, time: number): number {
  let index = from;
  while (index < beats.count && beats.at(index) < time) index += 1;
  return index;
}

/** Returns the figures of beats, as a check has them. */
function figuresOfBeats(beats: DayBeats, from: number, to: number): Figures {
  const latencies: number[] = [];
  let [checks, failures, latencySum] = [0, 0, 0];
  let [latencyMin, latencyMax] = [Number.POSITIVE_INFINITY, 0];
  for (let index = from; index < to; index += 1) {
    const kind = beats.kind(index);
    if (kind > BEAT.pending) continue;
    checks += 1;
    if (kind !== BEAT.up) failures += 1;
    const latencyMs = beats.latencyMs(index);
    if (latencyMs < 0) continue;
    latencies.push(latencyMs);
    latencySum += latencyMs;
    latencyMin = Math.min(latencyMin, latencyMs);
    latencyMax = Math.max(latencyMax, latencyMs);
  }
  const answers = latencies.length;
  const bounds = answers > 0 ? { latencySum, latencyMin, latencyMax } : NO_LATENCY;
  return { checks, failures, answers, ...bounds, latencies: sketchOf(latencies) };
}

const NO_LATENCY = { latencySum: null, latencyMin: null, latencyMax: null };

/** Returns the sum of the source if it counts more results. It has no sketch. */
function largest(figures: Figures, sum: HistorySum | undefined): Figures {
  if (!sum || sum.checks <= figures.checks) return figures;
  const { checks, failures, answers, latencySum } = sum;
  if (latencySum === null || answers === 0) {
    return { checks, failures, answers: 0, ...NO_LATENCY, latencies: [] };
  }
  const mean = latencySum / answers;
  return {
    checks,
    failures,
    answers,
    latencySum: Math.round(latencySum),
    latencyMin: Math.round(sum.latencyMin ?? mean),
    latencyMax: Math.round(sum.latencyMax ?? mean),
    latencies: [],
  };
}

function checksOf(monitorNum: number, beats: DayBeats, from: number): CheckRow[] {
  const checks: CheckRow[] = [];
  for (let index = indexAfter(beats, 0, from); index < beats.count; index += 1) {
    const kind = beats.kind(index);
    if (kind > BEAT.pending) continue;
    const latencyMs = beats.latencyMs(index);
    checks.push({
      monitorNum,
      at: beats.at(index),
      outcome: kind === BEAT.up ? "ok" : "failed",
      latencyMs: latencyMs < 0 ? null : latencyMs,
      message: beats.message(index),
    });
  }
  return checks;
}
