import { timeInWords } from "../../monitors/screens/words";
import { EmptyState, Notice } from "../../../ui/blocks";
import { BarChart } from "../../../ui/charts";
import { DetailCard, Numbers } from "../../../ui/detail";
import { incidentPath, keyPath } from "../../../ui/frame/paths";
import { Cell, Row, RowLink, Table } from "../../../ui/list";
import { RelativeTime } from "../../../ui/times";
import type { incidentsAnswer, requestsAnswer } from "../analytics";
import {
  AnalyticsFrame,
  INCIDENT_FIGURES_PATH,
  REQUEST_FIGURES_PATH,
  type Selection,
} from "./frame";

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

const REQUEST_COLUMNS = [
  { label: "Key" },
  { label: "Requests", isNumeric: true },
  { label: "Succeeded", isNumeric: true },
  { label: "Failed (4xx)", isNumeric: true },
  { label: "Rate-limited", isNumeric: true },
  { label: "Last used" },
];

interface RequestFiguresProps {
  selection: Selection;
  /** Figures by key; undefined if there are too many keys to show. */
  answer: ReturnType<typeof requestsAnswer> | undefined;
  /** True if the user may open API keys. */
  canOpenKeys: boolean;
  now: number;
}

/** `/admin/analytics/requests`: responses to the requests of each API key. */
export function RequestFigures({ selection, answer, canOpenKeys, now }: RequestFiguresProps) {
  const data = answer?.data.toSorted((a, b) => b.total - a.total) ?? [];
  return (
    <AnalyticsFrame
      path={REQUEST_FIGURES_PATH}
      selection={selection}
      hasSpan
      methods={answer ? [{ of: "requests", method: answer.method }] : []}
    >
      {answer ? null : (
        <Notice tone="maint" title="There are too many keys to show at once">
          The API returns the requests of a single key.
        </Notice>
      )}
      {answer && data.length === 0 ? (
        <EmptyState title="No API keys yet">
          The requests of each API key and their responses appear here.
        </EmptyState>
      ) : null}
      {answer && data.length > 0 ? (
        <Table columns={REQUEST_COLUMNS} caption="Requests by key">
          {data.map((line) => (
            <Row key={line.id}>
              <Cell>
                {canOpenKeys ? (
                  <RowLink href={keyPath(line.id)}>{line.name}</RowLink>
                ) : (
                  <span class="strong">{line.name}</span>
                )}
              </Cell>
              <RequestCount label="Requests" of={line.total} />
              <RequestCount label="Succeeded" of={line.ok} />
              <RequestCount label="Failed (4xx)" of={line.client_error} />
              <RequestCount label="Rate-limited" of={line.limited} />
              <Cell label="Last used">
                {line.last_used_at === null ? (
                  <span class="quiet-text">Never</span>
                ) : (
                  <RelativeTime at={line.last_used_at} now={now} />
                )}
              </Cell>
            </Row>
          ))}
        </Table>
      ) : null}
    </AnalyticsFrame>
  );
}

function RequestCount({ label, of: count }: { label: string; of: number }) {
  return (
    <Cell label={label} isNumeric>
      {count === 0 ? null : count.toLocaleString("en")}
    </Cell>
  );
}
