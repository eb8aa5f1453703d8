import { MONITOR_TONES, STATUS_TONES } from "../../domain/tone";
import { DetailCard, DetailRow, MONITOR_WORDS, Shape, STATUS_WORDS } from "../../ui";
import { LastDay } from "../monitors/list-row";
import { Since } from "../monitors/state";
import { latencyInWords } from "../monitors/words";
import { monitorPath } from "../paths";
import { Affected } from "../timeline/affected";
import type { IncidentView } from "./incident-view";

/** Components that an incident names, with the statuses that it gives or gave them. */
export function Components({ view: { incident, components } }: { view: IncidentView }) {
  const isOver = incident.status === "resolved";
  const onPage = new Set(components.map(({ id }) => id));
  return (
    <Affected
      components={incident.components.map(({ id, name, status }) => ({
        id,
        name,
        tone: STATUS_TONES[status],
        note: `${STATUS_WORDS[status]}${isOver ? ", ended" : ""}`,
        hasScreen: onPage.has(id),
      }))}
      none="No component. The incident changes no status."
    />
  );
}

/** Monitors that opened an incident, with their states and last 24 hours. */
export function DetectedBy({ view, now }: { view: IncidentView; now: number }) {
  if (view.monitors.length === 0) return null;
  return (
    <DetailCard title="Detected by" liveId="detected-by" isFlush>
      <ul>
        {view.monitors.map(({ record, recent }) => {
          const { row, state, lastCheck } = record;
          const latency = lastCheck?.latencyMs ?? null;
          const limit = row.degradedAfterMs;
          return (
            <DetailRow
              key={row.id}
              shape={
                <Shape tone={MONITOR_TONES[state.state]} isPaused={state.state === "paused"} />
              }
              href={monitorPath(row.id)}
              title={row.name}
              note={
                <>
                  {MONITOR_WORDS[state.state]} <Since at={state.since} now={now} />
                  {latency === null ? null : ` · ${latencyInWords(latency)}`}
                  {latency === null || limit === null || latency <= limit
                    ? null
                    : `, slow above ${latencyInWords(limit)}`}
                  <LastDay name={row.name} recent={recent} />
                </>
              }
            />
          );
        })}
      </ul>
    </DetailCard>
  );
}
