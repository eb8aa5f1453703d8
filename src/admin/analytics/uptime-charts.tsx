import { percent } from "../../kernel/numbers";
import { plural } from "../../kernel/text";
import { DayChart, DetailCard, Numbers, runsOf, UptimeChart } from "../../ui";
import { timeInWords } from "../monitors/words";
import { componentPath } from "../paths";
import type { PageUptime } from "./uptime-view";

/** Components drawn of one page, worst first. The table below has all of them. */
const ROWS_MAX = 30;

/** Figures of a page in a period. */
export function UptimeNumbers({ uptime: { page, total, components } }: { uptime: PageUptime }) {
  const known = components.filter(({ line }) => line.uptime !== null);
  const lowest = worstFirst(known)[0]?.line;
  const time = (ms: number | null) => (ms ? timeInWords(ms) : "None");
  return (
    <Numbers
      label={`Figures of ${page.name}`}
      liveId={`uptime-figures-${page.id}`}
      items={[
        { label: "Uptime", value: percent(total.uptime, 3), note: "all components together" },
        { label: "Major outage", value: time(total.major_outage_ms), note: "of all components" },
        { label: "Partial outage", value: time(total.partial_outage_ms), note: "counts 30 %" },
        {
          label: "Lowest component",
          value: percent(lowest?.uptime ?? null, 3),
          note: lowest ? <a href={componentPath(lowest.id)}>{lowest.name}</a> : undefined,
        },
        { label: "Degraded", value: time(total.degraded_ms), note: "counts as up" },
        { label: "Maintenance", value: time(total.maintenance_ms), note: "not counted" },
      ]}
    />
  );
}

/** Uptime of a page day by day, and the days of its components. Nothing for a long period or a large page. */
export function UptimeCharts({ uptime }: { uptime: PageUptime }) {
  const { page, components, days } = uptime;
  if (!days) return null;
  const rows = worstFirst(components).slice(0, ROWS_MAX);
  const others = components.length - rows.length;
  return (
    <>
      <DetailCard title={`Uptime of ${page.name}, day by day`} liveId={`uptime-chart-${page.id}`}>
        <UptimeChart name={`Uptime of ${page.name}`} points={days.whole} />
      </DetailCard>
      <DetailCard
        title={`Components of ${page.name}, worst first`}
        liveId={`uptime-days-${page.id}`}
        end={<span class="muted">One bar a day, in the colour of its worst status</span>}
      >
        <ul class="uptime-matrix">
          {rows.map(({ line: { id, name, uptime: share } }) => (
            <li key={id}>
              <a href={componentPath(id)} title={name}>
                {name}
              </a>
              <DayChart
                label={`${name}, day by day`}
                runs={runsOf(days.components.get(id) ?? [])}
              />
              <span>{percent(share, 2)}</span>
            </li>
          ))}
        </ul>
        {others > 0 ? (
          <p class="muted">The table below has {plural(others, "more component")}.</p>
        ) : null}
      </DetailCard>
    </>
  );
}

function worstFirst(components: PageUptime["components"]): PageUptime["components"] {
  return components.toSorted((a, b) => (a.line.uptime ?? 2) - (b.line.uptime ?? 2));
}
