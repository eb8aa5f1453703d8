import type { CheckRow, Outage } from "../../features/monitors";
import { toIso } from "../../kernel/time";
import {
  CheckLabel,
  DenseRow,
  DenseTable,
  DetailCard,
  FigureCell,
  RelativeTime,
  State,
  TextCell,
} from "../../ui";
import type { MonitorView } from "./monitor-view";
import { latencyInWords, timeInWords } from "./words";

const OUTAGE_COLUMNS = [
  { label: "First failure" },
  { label: "Started" },
  { label: "Duration", isNumeric: true },
];

/** Outages of a monitor, newest first. */
export function Outages({ view, now }: { view: MonitorView; now: number }) {
  const { outages, outageCount, range } = view;
  const earlier = outageCount - outages.length;
  return (
    <DetailCard title="Outages" liveId="monitor-outages" count={`last ${range.label}`} isTable>
      {outages.length === 0 ? (
        <p class="muted detail-body">No outages in the last {range.label}.</p>
      ) : (
        <DenseTable columns={OUTAGE_COLUMNS} caption={`Outages in the last ${range.label}`}>
          {outages.map((outage) => (
            <OutageRow key={outage.startedAt} outage={outage} now={now} />
          ))}
        </DenseTable>
      )}
      {earlier > 0 ? (
        <p class="muted detail-body">
          {earlier.toLocaleString("en")} earlier outages are not listed.
        </p>
      ) : null}
    </DetailCard>
  );
}

function OutageRow({ outage, now }: { outage: Outage; now: number }) {
  const { startedAt, endedAt, durationMs, message } = outage;
  return (
    <DenseRow>
      <TextCell>
        <State tone="major">Down</State>
        {message === null ? null : <span class="note">{message}</span>}
      </TextCell>
      <TextCell isBars>
        <RelativeTime at={toIso(startedAt)} now={now} />
      </TextCell>
      <FigureCell>
        {timeInWords(durationMs)}
        {endedAt === null ? " so far" : null}
      </FigureCell>
    </DenseRow>
  );
}

const CHECK_COLUMNS = [
  { label: "Result" },
  { label: "Time (UTC)" },
  { label: "Duration", isNumeric: true },
];

interface LastChecksProps {
  checks: readonly CheckRow[];
  /** Response time above which a result is slow, in ms; null for none. */
  slowAboveMs: number | null;
  now: number;
}

/** Results of the last checks, newest first. */
export function LastChecks({ checks, slowAboveMs, now }: LastChecksProps) {
  return (
    <DetailCard title="Last results" liveId="monitor-results" isTable>
      {checks.length === 0 ? (
        <p class="muted detail-body">No recent results. They appear here after the next check.</p>
      ) : (
        <DenseTable columns={CHECK_COLUMNS} caption="Last results">
          {checks.map(({ at, outcome, latencyMs, message }) => (
            <DenseRow key={at}>
              <TextCell>
                {outcome === "ok" && slowAboveMs !== null && (latencyMs ?? 0) > slowAboveMs ? (
                  <State tone="degraded">Slow</State>
                ) : (
                  <CheckLabel outcome={outcome} />
                )}
                {message === null ? null : <span class="note">{message}</span>}
              </TextCell>
              <TextCell isBars>
                {toIso(at).slice(11, 19)} · <RelativeTime at={toIso(at)} now={now} />
              </TextCell>
              <FigureCell>{latencyMs === null ? "–" : latencyInWords(latencyMs)}</FigureCell>
            </DenseRow>
          ))}
        </DenseTable>
      )}
    </DetailCard>
  );
}
