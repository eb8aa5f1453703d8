import type { Reader } from "../../db";
import { latencyByInterval, type LatencyFigures, latencyOf } from "../monitors";
import { headOf, lineOf } from "./answer";
import { type LatencyAnswer, METHODS } from "./model";
import { badQuery, type Period, requireLines } from "./period";
import { monitorsOf, type Subject } from "./subjects";

/** Of the hour that is not rolled up yet every result is read, so monitors are bounded by themselves. */
const MONITORS_MAX = 50;

/**
 * How long the monitors of the subject waited for answers, each by interval, and all of them together.
 * Throws `invalid_request` for more lines than an answer may have, and for more than 50 monitors.
 */
export function latencyAnswer(reader: Reader, subject: Subject, period: Period): LatencyAnswer {
  const found = monitorsOf(reader, subject);
  if (found.length > MONITORS_MAX) {
    const parameter = subject.page ? "page" : "monitor";
    throw badQuery(parameter, `is needed to choose ${MONITORS_MAX} monitors at most`);
  }
  requireLines(found.length, period);
  const { from, to, spans } = period;
  const data = found.flatMap(({ id, num, name }) => {
    const figures = latencyByInterval(reader, [num], spans);
    return spans.map((span, i) => ({
      id,
      name,
      ...lineOf(span),
      ...presentLatency(figures[i] ?? NO_FIGURES),
    }));
  });
  const nums = found.map(({ num }) => num);
  const total = presentLatency(latencyOf(reader, nums, { from, to }));
  return { ...headOf(period, METHODS.latency), total, data };
}

const NO_FIGURES: LatencyFigures = {
  checks: 0,
  failures: 0,
  count: 0,
  avgMs: null,
  minMs: null,
  maxMs: null,
  p50Ms: null,
  p90Ms: null,
  p95Ms: null,
  p99Ms: null,
};

function presentLatency(figures: LatencyFigures): LatencyAnswer["total"] {
  const { checks, failures, count } = figures;
  return {
    checks,
    failures,
    count,
    avg_ms: figures.avgMs,
    min_ms: figures.minMs,
    max_ms: figures.maxMs,
    p50_ms: figures.p50Ms,
    p90_ms: figures.p90Ms,
    p95_ms: figures.p95Ms,
    p99_ms: figures.p99Ms,
  };
}
