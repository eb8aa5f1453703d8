import type { ComponentStatus } from "../../src/base/status";
import { DAY_MS, HOUR_MS, toIso } from "../../src/base/time";
import { BarChart, Sparkline } from "../../src/ui/charts";
import { Card, Facts, Section } from "../../src/ui/blocks";
import { DayBars, type StatusDay } from "../../src/ui/day-charts";
import { TimeChart, type TimePoint } from "../../src/ui/time-chart";

/** Charts, including ones with few values. */
export function GalleryCharts({ now }: { now: number }) {
  return (
    <Section title="Charts">
      <Card title="Checkout">
        <DayBars name="Checkout" days={days(now)} note="99.71 % uptime" />
      </Card>
      <Card title="Made today">
        <DayBars name="Search" days={days(now).slice(-1)} />
        <DayBars name="Refunds" days={[]} />
      </Card>
      <Card title="Response time">
        <TimeChart
          name="Response time"
          from={now - DAY_MS}
          to={now}
          points={points(now)}
          bands={[{ from: now - 10 * HOUR_MS, to: now - 9 * HOUR_MS, tone: "major" }]}
          bandNames={[{ tone: "major", name: "Outage" }]}
          ticks={[{ at: now - DAY_MS / 2, label: "12 hours ago" }]}
          write={(ms) => `${ms} ms`}
        />
      </Card>
      <Card title="Incidents by month">
        <BarChart
          name="Incidents by month"
          parts={[
            { label: "Critical", tone: "major" },
            { label: "Minor", tone: "degraded" },
          ]}
          bars={["April 2026", "May 2026", "June 2026"].map((name, index) => ({
            name,
            counts: [index, 3 - index],
          }))}
        />
      </Card>
      <Card title="Sparklines">
        <Facts
          items={[
            {
              label: "A day",
              value: (
                <Sparkline
                  values={Array.from({ length: 24 }, (_, hour) => (hour * 11) % 19)}
                  label="Up to 18 requests an hour"
                />
              ),
            },
            {
              label: "Nothing",
              value: <Sparkline values={Array(24).fill(0)} label="No requests" />,
            },
            { label: "One value", value: <Sparkline values={[4]} label="4 requests" /> },
            { label: "None", value: <Sparkline values={[]} label="Nothing known" /> },
          ]}
        />
      </Card>
    </Section>
  );
}

function points(now: number): TimePoint[] {
  return Array.from({ length: 24 }, (_, index) => {
    const from = now - (24 - index) * HOUR_MS;
    const span = { from, to: from + HOUR_MS, name: `${toIso(from).slice(11, 16)} UTC` };
    if (index > 5 && index < 9) return { ...span, median: null, p95: null, tone: "none" };
    const median = 80 + ((index * 37) % 60);
    return {
      ...span,
      median,
      p95: median + 40 + ((index * 53) % 90),
      ...(index === 14 ? { tone: "major", failed: "3 of 60" } : { tone: "ok" }),
    };
  });
}

const BAD_DAYS: Record<number, [ComponentStatus, number]> = {
  40: ["partial_outage", 430],
  56: ["major_outage", 1_300],
  57: ["degraded_performance", 200],
  70: ["under_maintenance", 120],
  77: ["under_maintenance", 900],
  81: ["major_outage", 12],
  89: ["partial_outage", 610],
};

function days(now: number): StatusDay[] {
  return Array.from({ length: 90 }, (_, index) => {
    const day = toIso(now - (89 - index) * DAY_MS).slice(0, 10);
    if (index < 6) return { day, status: null, goodShare: 0, minutes: {} };
    const [status, minutes] = BAD_DAYS[index] ?? ["operational", 0];
    return { day, status, goodShare: 1 - minutes / 1_440, minutes: { [status]: minutes } };
  });
}
