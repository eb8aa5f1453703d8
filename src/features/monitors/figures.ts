/*
 * Figures of checks and their stored form. Figures of parts can be added up, so hours make days.
 * Pure.
 */
import { sum } from "../../base/numbers";
import {
  mergeSketches,
  type Sketch,
  sketchFromBytes,
  sketchOf,
  sketchToBytes,
} from "../../base/sketch";
import type { CheckOutcome } from "../../base/status";

/** Figures of checks with a known outcome. */
export interface Figures {
  checks: number;
  failures: number;
  /** Number of checks with a response, good or bad, which have a latency. */
  answers: number;
  /** Null without responses, as the next two. In ms. */
  latencySum: number | null;
  latencyMin: number | null;
  latencyMax: number | null;
  latencies: Sketch;
}

/** Properties of a result that are counted. */
interface Result {
  outcome: CheckOutcome;
  latencyMs: number | null;
}

/** Figures as a row stores them. */
interface FiguresRow extends Omit<Figures, "latencies"> {
  sketch: Buffer | null;
}

/** Returns the figures of results. Results with unknown outcome are not counted. */
export function figuresOf(results: readonly Result[]): Figures {
  const known = results.filter(({ outcome }) => outcome !== "unknown");
  const latencies = known.flatMap(({ latencyMs }) => (latencyMs === null ? [] : [latencyMs]));
  return {
    checks: known.length,
    failures: known.filter(({ outcome }) => outcome === "failed").length,
    answers: latencies.length,
    ...boundsOf(latencies, latencies, latencies),
    latencies: sketchOf(latencies),
  };
}

/** Returns the sum of figures. */
export function mergeFigures(parts: readonly Figures[]): Figures {
  const [only] = parts;
  if (only && parts.length === 1) return only;
  return {
    checks: sum(parts.map(({ checks }) => checks)),
    failures: sum(parts.map(({ failures }) => failures)),
    answers: sum(parts.map(({ answers }) => answers)),
    ...boundsOf(
      known(parts.map(({ latencySum }) => latencySum)),
      known(parts.map(({ latencyMin }) => latencyMin)),
      known(parts.map(({ latencyMax }) => latencyMax)),
    ),
    latencies: mergeSketches(parts.map(({ latencies }) => latencies)),
  };
}

export function figuresToRow({ latencies, ...rest }: Figures): FiguresRow {
  return { ...rest, sketch: latencies.length === 0 ? null : sketchToBytes(latencies) };
}

export function figuresFromRow(row: FiguresRow): Figures {
  const { checks, failures, answers, latencySum, latencyMin, latencyMax, sketch } = row;
  const latencies: Sketch = sketch === null ? [] : sketchFromBytes(sketch);
  return { checks, failures, answers, latencySum, latencyMin, latencyMax, latencies };
}

function boundsOf(sums: readonly number[], lows: readonly number[], highs: readonly number[]) {
  if (sums.length === 0) return { latencySum: null, latencyMin: null, latencyMax: null };
  return {
    latencySum: sum(sums),
    latencyMin: lows.reduce((low, value) => Math.min(low, value)),
    latencyMax: highs.reduce((high, value) => Math.max(high, value)),
  };
}

function known(values: readonly (number | null)[]): number[] {
  return values.filter((value) => value !== null);
}
