import type { Reader } from "../../db/statements";
import { invalidParameter } from "../../base/errors";
import { type LatencyFigures, latencyOfEach } from "../monitors/latency";
import { headOf, lineOf } from "./answer";
import { type LatencyAnswer, METHODS } from "./model";
import { type Period, requireLines } from "./period";
import { monitorsOf, type Subject } from "./subjects";

/** Maximum number of monitors, since all results of the last hour are read one by one. */
const MONITORS_MAX = 20;

/**
 * Returns the response times of the subject's monitors by interval, each and all together. Throws
 * `invalid_request` for more lines than an answer may have, and for more than 20 monitors.
 */
export function latencyAnswer(reader: Reader, subject: Subject, period: Period): LatencyAnswer {
  const monitors = monitorsOf(reader, subject);
  if (monitors.length > MONITORS_MAX) {
    throw invalidParameter(
      "monitor",
      `is required, because there are more than ${MONITORS_MAX} monitors`,
    );
  }
  requireLines(monitors.length, period);
  const { spans } = period;
  const nums = monitors.map(({ num }) => num);
  const { each, total } = latencyOfEach(reader, nums, spans);
  const data = monitors.flatMap(({ id, name }, i) =>
    (each[i] ?? []).map((figures, j) => ({
      id,
      name,
      ...lineOf(spans[j] ?? period),
      ...presentLatency(figures),
    })),
  );
  return { ...headOf(period, METHODS.latency), total: presentLatency(total), data };
}

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
