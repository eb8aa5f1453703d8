import type { ComponentStatus } from "../../src/domain/component-status";
import { DAY_MS, toIso } from "../../src/kernel/time";
import {
  BarChart,
  Card,
  type ChartPoint,
  DayBars,
  Facts,
  LineChart,
  Section,
  Sparkline,
  type StatusDay,
} from "../../src/ui";

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
        <LineChart
          name="Response time"
          lines={["Median", "95th percentile"]}
          marks="Failed checks"
          points={POINTS}
          write={(ms) => `${ms} ms`}
          ends={["24 hours ago", "Now"]}
          note="None is known for a while"
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

const POINTS: readonly ChartPoint[] = Array.from({ length: 24 }, (_, hour) => {
  const name = `${String(hour).padStart(2, "0")}:00 UTC`;
  if (hour > 5 && hour < 9) return { name, values: [null, null] };
  const median = 80 + ((hour * 37) % 60);
  return {
    name,
    values: [median, median + 40 + ((hour * 53) % 90)],
    ...(hour === 15 ? { mark: "3 of 60" } : {}),
  };
});

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
