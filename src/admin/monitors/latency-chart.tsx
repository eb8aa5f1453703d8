import type { StateTimes } from "../../features/monitors/spans";
import type { Span } from "../../features/components/history";
import { MONITOR_TONES, type Tone } from "../../base/status";
import { DAY_MS, toIso } from "../../base/time";
import { shortDay } from "../../ui/times";
import { type TimeBand, TimeChart, type TimePoint } from "../../ui/time-chart";
import type { MonitorView } from "./monitor-view";
import { type Range, spanName } from "./range";
import { inRange, latencyInWords } from "./words";

/** States drawn as bands, with the names of their tones. */
const BANDS = [
  { state: "down", tone: "major", name: "Outage" },
  { state: "degraded", tone: "degraded", name: "Slow" },
  { state: "maintenance", tone: "maint", name: "Maintenance" },
] as const;

/** Chart of response times or job durations over a range, with outages and slow times. */
export function LatencyChart({ name, view }: { name: string; view: MonitorView }) {
  const { range, latency, total, spans, stepTimes, record } = view;
  const first = range.steps[0]?.from ?? range.span.from;
  const points = range.steps.map((step, index): TimePoint => {
    const { checks = 0, failures = 0, p50Ms = null, p95Ms = null } = latency[index] ?? {};
    return {
      ...step,
      name: stepName(step),
      median: p50Ms,
      p95: p95Ms,
      tone: toneOf(stepTimes[index], checks, failures),
      failed:
        failures > 0
          ? `${failures.toLocaleString("en")} of ${checks.toLocaleString("en")}`
          : undefined,
    };
  });
  const bands = spans.flatMap(({ state, startedAt, endedAt }): TimeBand[] => {
    const isShown = BANDS.some((band) => band.state === state);
    return isShown && (endedAt ?? range.span.to) > first
      ? [{ from: startedAt, to: endedAt ?? range.span.to, tone: MONITOR_TONES[state] }]
      : [];
  });
  if (total.checks === 0 && bands.length === 0) {
    return (
      <p class="muted">
        No {name.toLowerCase()} was measured {inRange(range)}.
      </p>
    );
  }
  const { degradedAfterMs } = record.row;
  return (
    <TimeChart
      name={name}
      from={first}
      to={range.span.to}
      points={points}
      bands={bands}
      bandNames={BANDS}
      marks={view.incidents
        .filter(({ startedAt }) => startedAt >= first && startedAt < range.span.to)
        .map(({ startedAt }) => startedAt)}
      markName="Incident opened"
      threshold={
        degradedAfterMs === null
          ? undefined
          : { value: degradedAfterMs, name: `Slow above ${latencyInWords(degradedAfterMs)}` }
      }
      ticks={ticksOf(range, first)}
      write={latencyInWords}
    />
  );
}

/** Returns the tone of a step: that of failed checks, else of slow times, maintenance or good checks. */
function toneOf(times: StateTimes | undefined, checks: number, failures: number): Tone {
  if (failures > 0 || (times?.down ?? 0) > 0) return "major";
  if ((times?.degraded ?? 0) > 0) return "degraded";
  if ((times?.maintenance ?? 0) > 0) return "maint";
  return checks > 0 ? "ok" : "none";
}

/** Returns round times for the labels below a chart, except near its ends. */
function ticksOf({ span, tickMs }: Range, first: number): { at: number; label: string }[] {
  const margin = (span.to - first) / 50;
  const ticks: { at: number; label: string }[] = [];
  for (
    let at = Math.ceil((first + margin) / tickMs) * tickMs;
    at < span.to - margin;
    at += tickMs
  ) {
    const iso = toIso(at);
    const label = tickMs < DAY_MS ? iso.slice(11, 16) : shortDay(iso).slice(0, -5);
    ticks.push({ at, label });
  }
  return ticks;
}

/** Returns a step as text: "21 Nov 2026, 14:00–14:30 UTC", or dates for whole days. */
function stepName({ from, to }: Span): string {
  const begin = toIso(from);
  if (from % DAY_MS === 0 && to - from > DAY_MS) {
    return `${shortDay(begin)} – ${shortDay(toIso(to - 1))}`;
  }
  const isDay = from % DAY_MS === 0 && (to - from) % DAY_MS === 0;
  return isDay ? shortDay(begin) : spanName({ from, to });
}
