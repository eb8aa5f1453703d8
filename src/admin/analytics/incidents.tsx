import type { incidentsAnswer } from "../../features/analytics/incidents";
import { BarChart } from "../../ui/charts";
import { Cell, Row, Table } from "../../ui/list";
import { DetailCard, Numbers } from "../../ui/detail";
import { timeInWords } from "../monitors/words";
import { incidentPath } from "../../ui/frame/paths";
import { AnalyticsFrame } from "./frame";
import { INCIDENT_FIGURES_PATH, type Selection } from "./selection";

const INCIDENT_COLUMNS = [
  { label: "Month" },
  { label: "Incidents", isNumeric: true },
  { label: "Minor", isNumeric: true },
  { label: "Major", isNumeric: true },
  { label: "Critical", isNumeric: true },
  { label: "No impact", isNumeric: true },
  { label: "To identify", isNumeric: true },
  { label: "To resolve", isNumeric: true },
  { label: "Longest", isNumeric: true },
];

/** Impacts, each in the colour of the component status that causes it. */
const IMPACTS = [
  { impact: "critical", label: "Critical", tone: "major" },
  { impact: "major", label: "Major", tone: "partial" },
  { impact: "minor", label: "Minor", tone: "degraded" },
  { impact: "none", label: "No impact", tone: "none" },
] as const;

/** `/admin/analytics/incidents`: incidents that started in each month, and their durations. */
export function IncidentFigures(props: {
  selection: Selection;
  answer: ReturnType<typeof incidentsAnswer>;
}) {
  const { selection, answer } = props;
  const { total, data } = answer;
  return (
    <AnalyticsFrame
      path={INCIDENT_FIGURES_PATH}
      selection={selection}
      hasPage
      methods={[{ of: "incidents", method: answer.method }]}
    >
      <Numbers
        label="Incidents in 12 months"
        liveId="incident-figures"
        items={[
          { label: "Incidents", value: total.count.toLocaleString("en"), note: "in 12 months" },
          { label: "Critical", value: total.critical.toLocaleString("en") },
          { label: "Major", value: total.major.toLocaleString("en") },
          {
            label: "Open",
            value: (total.count - total.resolved).toLocaleString("en"),
            note: "not resolved yet",
          },
          { label: "To resolve", value: time(total.time_to_resolve_ms) ?? "–", note: "on average" },
          {
            label: "Longest",
            value: time(total.longest_ms) ?? "–",
            note:
              total.longest_id === null ? undefined : (
                <a href={incidentPath(total.longest_id)}>Open the incident</a>
              ),
          },
        ]}
      />
      <DetailCard title="Incidents by month" liveId="incident-chart">
        <BarChart
          name="Incidents by month"
          parts={IMPACTS.map(({ label, tone }) => ({ label, tone }))}
          bars={data.map((line) => ({
            name: monthOf(line.from),
            counts: IMPACTS.map(({ impact }) => line[impact]),
          }))}
        />
      </DetailCard>
      <Table columns={INCIDENT_COLUMNS} caption="Incidents by month">
        {data.toReversed().map((line) => (
          <Row key={line.from}>
            <Cell>{monthOf(line.from)}</Cell>
            <Count label="Incidents" of={line.count} isStrong />
            <Count label="Minor" of={line.minor} />
            <Count label="Major" of={line.major} />
            <Count label="Critical" of={line.critical} />
            <Count label="No impact" of={line.none} />
            <Cell label="To identify" isNumeric>
              {time(line.time_to_identify_ms)}
            </Cell>
            <Cell label="To resolve" isNumeric>
              {time(line.time_to_resolve_ms)}
            </Cell>
            <Cell label="Longest" isNumeric>
              {line.longest_id === null ? (
                time(null)
              ) : (
                <a href={incidentPath(line.longest_id)}>{time(line.longest_ms)}</a>
              )}
            </Cell>
          </Row>
        ))}
      </Table>
    </AnalyticsFrame>
  );
}

function Count(props: { label: string; of: number; isStrong?: boolean }) {
  const { label, of: count, isStrong = false } = props;
  return (
    <Cell label={label} isNumeric>
      {count === 0 ? null : (
        <span class={isStrong ? "strong" : undefined}>{count.toLocaleString("en")}</span>
      )}
    </Cell>
  );
}

function time(ms: number | null) {
  return ms === null ? null : timeInWords(ms);
}

const MONTHS = new Intl.DateTimeFormat("en-GB", {
  month: "long",
  year: "numeric",
  timeZone: "UTC",
});

/** Returns month and year: "November 2026". */
function monthOf(iso: string): string {
  return MONTHS.format(new Date(iso));
}
