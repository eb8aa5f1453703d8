import type { CheckRow } from "../../features/monitors/checks-store";
import { MONITOR_TONES } from "../../base/status";
import { toIso } from "../../base/time";
import { CheckLabel, State } from "../../ui/blocks";
import { DenseRow, DenseTable, FigureCell, TextCell } from "../../ui/list";
import { DetailCard } from "../../ui/detail";
import { RelativeTime } from "../../ui/times";
import { incidentPath, monitorPath } from "../../ui/frame/paths";
import type { ListedTrouble, MonitorView } from "./monitor-view";
import { zoomQuery } from "./range";
import { inRange, latencyInWords, timeInWords } from "./words";

const TROUBLE_COLUMNS = [
  { label: "First failure" },
  { label: "Started" },
  { label: "Duration", isNumeric: true },
  { label: "Incident" },
];

const TROUBLE_WORDS = { down: "Down", degraded: "Slow", unreachable: "Unreachable" } as const;

/** Outages and slow times of a monitor, newest first, each with a link that zooms into it. */
export function Troubles({ view, now }: { view: MonitorView; now: number }) {
  const { troubles, troubleCount, range, cutAt } = view;
  const earlier = troubleCount - troubles.length;
  return (
    <DetailCard title="Outages and slow times" liveId="monitor-outages" count={range.label} isTable>
      {troubles.length === 0 ? (
        <p class="muted detail-body">No outages or slow times {inRange(range)}.</p>
      ) : (
        <DenseTable columns={TROUBLE_COLUMNS} caption={`Outages and slow times, ${range.label}`}>
          {troubles.map((trouble) => (
            <TroubleRow key={trouble.startedAt} trouble={trouble} view={view} now={now} />
          ))}
        </DenseTable>
      )}
      {earlier > 0 || cutAt !== undefined ? (
        <p class="muted detail-body">
          {cutAt === undefined ? earlier.toLocaleString("en") : "Many"} earlier entries are not
          listed.
        </p>
      ) : null}
    </DetailCard>
  );
}

function TroubleRow(props: { trouble: ListedTrouble; view: MonitorView; now: number }) {
  const { trouble, view, now } = props;
  const { state, startedAt, endedAt, durationMs, message, incident } = trouble;
  const zoom = zoomQuery(view.range, { from: startedAt, to: endedAt ?? now }, now);
  return (
    <DenseRow>
      <TextCell>
        <State tone={MONITOR_TONES[state]}>{TROUBLE_WORDS[state]}</State>
        {message === null ? null : <span class="note">{message}</span>}
      </TextCell>
      <TextCell isBars>
        <a href={`${monitorPath(view.record.row.id)}${zoom}`} title="Show it in the chart">
          <RelativeTime at={toIso(startedAt)} now={now} />
        </a>
      </TextCell>
      <FigureCell>
        {timeInWords(durationMs)}
        {endedAt === null ? " so far" : null}
      </FigureCell>
      <TextCell isMiddle>
        {incident ? (
          <a href={incidentPath(incident.id)}>{incident.name}</a>
        ) : (
          <span class="quiet-text">None</span>
        )}
      </TextCell>
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
