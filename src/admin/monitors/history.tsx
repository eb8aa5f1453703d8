import type { Span } from "../../features/components";
import type { CheckRow, LatencyFigures, Outage } from "../../features/monitors";
import { DAY_MS, toIso } from "../../kernel/time";
import { INCIDENT_WORDS } from "../../public/words";
import {
  Cell,
  CheckLabel,
  type ChartPoint,
  Chip,
  LineChart,
  RelativeTime,
  Row,
  RowLink,
  Section,
  shortDay,
  Table,
  WithChip,
} from "../../ui";
import { incidentPath } from "../paths";
import type { MonitorView, Range } from "./monitor-view";
import { latencyInWords, timeInWords } from "./words";

const OUTAGE_COLUMNS = [{ label: "Started" }, { label: "Duration" }, { label: "First failure" }];

/** Outages of a monitor, newest first. */
export function Outages({ view, now }: { view: MonitorView; now: number }) {
  const { outages, outageCount, range } = view;
  return (
    <Section title="Outages">
      {outages.length === 0 ? (
        <p class="muted">No outages in the last {range.label}.</p>
      ) : (
        <Table columns={OUTAGE_COLUMNS} caption={`Outages in the last ${range.label}`}>
          {outages.map((outage) => (
            <OutageRow key={outage.startedAt} outage={outage} now={now} />
          ))}
        </Table>
      )}
      {outageCount > outages.length ? (
        <p class="muted">
          {(outageCount - outages.length).toLocaleString("en")} earlier outages are not listed.
        </p>
      ) : null}
    </Section>
  );
}

function OutageRow({ outage, now }: { outage: Outage; now: number }) {
  const { startedAt, endedAt, durationMs, message } = outage;
  return (
    <Row>
      <Cell label="Started">
        <RelativeTime at={toIso(startedAt)} now={now} />
      </Cell>
      <Cell label="Duration">
        {timeInWords(durationMs)}
        {endedAt === null ? " so far" : null}
      </Cell>
      <Cell label="First failure">{message ?? "–"}</Cell>
    </Row>
  );
}

const CHECK_COLUMNS = [
  { label: "Time (UTC)" },
  { label: "Result" },
  { label: "Duration", isNumeric: true },
  { label: "Message" },
];

/** Results of the last checks, newest first. */
export function LastChecks({ checks, now }: { checks: readonly CheckRow[]; now: number }) {
  return (
    <Section title="Last results">
      {checks.length === 0 ? (
        <p class="muted">No recent results. They appear here after the next check.</p>
      ) : (
        <Table columns={CHECK_COLUMNS} caption="Last results">
          {checks.map(({ at, outcome, latencyMs, message }) => (
            <Row key={at}>
              <Cell label="Time">
                {toIso(at).slice(11, 19)} · <RelativeTime at={toIso(at)} now={now} />
              </Cell>
              <Cell label="Result">
                <CheckLabel outcome={outcome} />
              </Cell>
              <Cell label="Duration" isNumeric>
                {latencyMs === null ? null : latencyInWords(latencyMs)}
              </Cell>
              <Cell label="Message">{message}</Cell>
            </Row>
          ))}
        </Table>
      )}
    </Section>
  );
}

const INCIDENT_COLUMNS = [{ label: "Incident" }, { label: "Status" }, { label: "Started" }];

/** Incidents that a monitor opened. Renders nothing if there are none. */
export function OwnIncidents({ view, now }: { view: MonitorView; now: number }) {
  const { incidents } = view;
  if (incidents.length === 0) return null;
  return (
    <Section title="Incidents opened by this monitor">
      <Table columns={INCIDENT_COLUMNS} caption="Incidents opened by this monitor">
        {incidents.map(({ id, name, status, draft, startedAt }) => {
          const link = <RowLink href={incidentPath(id)}>{name}</RowLink>;
          return (
            <Row key={id}>
              <Cell>
                {draft ? (
                  <WithChip chip={<Chip tone="degraded">Draft</Chip>}>{link}</WithChip>
                ) : (
                  link
                )}
              </Cell>
              <Cell label="Status">{INCIDENT_WORDS[status]}</Cell>
              <Cell label="Started">
                <RelativeTime at={toIso(startedAt)} now={now} />
              </Cell>
            </Row>
          );
        })}
      </Table>
    </Section>
  );
}

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
    return (
      <p class="muted">
        No {name.toLowerCase()} was measured in the last {range.label}.
      </p>
    );
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
