import { EmptyState, Notice } from "../../../ui/blocks";
import { BarChart } from "../../../ui/charts";
import { DetailCard, Numbers } from "../../../ui/detail";
import { incidentPath, keyPath } from "../../../ui/frame/paths";
import { type DataColumn, DataTable, RowLink } from "../../../ui/list";
import { RelativeTime } from "../../../ui/times";
import { timeInWords } from "../../monitors/screens/words";
import type { incidentsAnswer, requestsAnswer } from "../analytics";
import {
  AnalyticsFrame,
  INCIDENT_FIGURES_PATH,
  REQUEST_FIGURES_PATH,
  type Selection,
} from "./frame";

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
      <DataTable
        caption="Incidents by month"
        columns={INCIDENT_COLUMNS}
        entries={data.toReversed()}
      />
    </AnalyticsFrame>
  );
}

type Month = ReturnType<typeof incidentsAnswer>["data"][number];

const INCIDENT_COLUMNS: readonly DataColumn<Month>[] = [
  { label: "Month", cell: ({ from }) => monthOf(from) },
  {
    label: "Incidents",
    isNumeric: true,
    cell: ({ count }) => (count === 0 ? null : <span class="strong">{written(count)}</span>),
  },
  { label: "Minor", isNumeric: true, cell: ({ minor }) => <Count of={minor} /> },
  { label: "Major", isNumeric: true, cell: ({ major }) => <Count of={major} /> },
  { label: "Critical", isNumeric: true, cell: ({ critical }) => <Count of={critical} /> },
  { label: "No impact", isNumeric: true, cell: ({ none }) => <Count of={none} /> },
  { label: "To identify", isNumeric: true, cell: (line) => time(line.time_to_identify_ms) },
  { label: "To resolve", isNumeric: true, cell: (line) => time(line.time_to_resolve_ms) },
  {
    label: "Longest",
    isNumeric: true,
    cell: ({ longest_id, longest_ms }) =>
      longest_id === null ? null : <a href={incidentPath(longest_id)}>{time(longest_ms)}</a>,
  },
];

function Count({ of: count }: { of: number }) {
  return count === 0 ? null : <span>{written(count)}</span>;
}

function written(count: number): string {
  return count.toLocaleString("en");
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
        <DataTable
          caption="Requests by key"
          columns={requestColumns(canOpenKeys, now)}
          entries={data}
        />
      ) : null}
    </AnalyticsFrame>
  );
}

type KeyLine = ReturnType<typeof requestsAnswer>["data"][number];

function requestColumns(canOpenKeys: boolean, now: number): DataColumn<KeyLine>[] {
  const count = (of: number) => (of === 0 ? null : written(of));
  return [
    {
      label: "Key",
      cell: ({ id, name }) =>
        canOpenKeys ? (
          <RowLink href={keyPath(id)}>{name}</RowLink>
        ) : (
          <span class="strong">{name}</span>
        ),
    },
    { label: "Requests", isNumeric: true, cell: ({ total }) => count(total) },
    { label: "Succeeded", isNumeric: true, cell: ({ ok }) => count(ok) },
    { label: "Failed (4xx)", isNumeric: true, cell: ({ client_error }) => count(client_error) },
    { label: "Rate-limited", isNumeric: true, cell: ({ limited }) => count(limited) },
    {
      label: "Last used",
      cell: ({ last_used_at }) =>
        last_used_at === null ? (
          <span class="quiet-text">Never</span>
        ) : (
          <RelativeTime at={last_used_at} now={now} />
        ),
    },
  ];
}
