import type { LatencyFigures } from "../../features/monitors";
import type { Span } from "../../features/components";
import { DAY_MS, toIso } from "../../kernel/time";
import { type ChartPoint, LineChart, shortDay } from "../../ui";
import type { Range } from "./range";
import { latencyInWords } from "./words";

interface LatencyChartProps {
  /** Name of the measured value. */
  name: string;
  range: Range;
  /** Figures for each step of the range. */
  latency: readonly LatencyFigures[];
  total: LatencyFigures;
}

/** Chart of response times or job durations over a range, with failed checks. */
export function LatencyChart({ name, range, latency, total }: LatencyChartProps) {
  if (total.count === 0) {
    return <p class="muted">Nothing was measured in the last {range.label}.</p>;
  }
  const points: ChartPoint[] = range.steps.map((step, index) => {
    const figures = latency[index];
    const { checks = 0, failures = 0, p50Ms = null, p95Ms = null } = figures ?? {};
    return {
      name: stepName(step),
      values: [p50Ms, p95Ms],
      ...(failures > 0
        ? { mark: `${failures.toLocaleString("en")} of ${checks.toLocaleString("en")}` }
        : {}),
    };
  });
  return (
    <LineChart
      name={name}
      lines={["Median", "95th percentile"]}
      marks="Failed checks"
      points={points}
      write={latencyInWords}
      ends={[`${range.label} ago`, "Now"]}
    />
  );
}

/** Returns a step as text: "21 Nov 2026, 14:00–14:30 UTC", or the date for a whole day. */
function stepName({ from, to }: Span): string {
  const [begin, end] = [toIso(from), toIso(to)];
  const isDay = from % DAY_MS === 0 && (to - from) % DAY_MS === 0;
  if (isDay) return shortDay(begin);
  return `${shortDay(begin)}, ${begin.slice(11, 16)}–${end.slice(11, 16)} UTC`;
}
