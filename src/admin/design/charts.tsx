import type { ComponentStatus } from "../../kernel/component-status";
import { DAY_MS, toIso } from "../../kernel/time";
import { Card, DayBars, Facts, Section, Sparkline, type StatusDay } from "../../ui";

/** Pictures of numbers, and what they look like when there are few. */
export function DesignCharts({ now }: { now: number }) {
  return (
    <Section title="Charts">
      <Card title="Checkout">
        <DayBars name="Checkout" days={days(now)} note="99.71 % uptime" />
      </Card>
      <Card title="Made today">
        <DayBars name="Search" days={days(now).slice(-1)} />
        <DayBars name="Refunds" days={[]} />
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
