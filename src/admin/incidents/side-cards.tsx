import { MONITOR_TONES, STATUS_TONES } from "../../domain/tone";
import { DetailCard, DetailRow, MONITOR_WORDS, Shape, STATUS_WORDS } from "../../ui";
import { LastDay } from "../monitors/list-row";
import { Since } from "../monitors/state";
import { latencyInWords } from "../monitors/words";
import { componentPath, monitorPath } from "../paths";
import type { IncidentView } from "./incident-view";

/** Maximum number of components in the card. */
const COMPONENTS_SHOWN = 100;

/** Components that an incident names, with the statuses that it gives or gave them. */
export function Affected({ view: { incident, components } }: { view: IncidentView }) {
  const isOver = incident.status === "resolved";
  const onPage = new Set(components.map(({ id }) => id));
  const affected = incident.components;
  const more = affected.length - COMPONENTS_SHOWN;
  return (
    <DetailCard title="Affects" liveId="affected" isFlush>
      {affected.length === 0 ? (
        <p class="muted detail-body">No component. The incident changes no status.</p>
      ) : (
        <ul>
          {affected.slice(0, COMPONENTS_SHOWN).map(({ id, name, status }) => (
            <DetailRow
              key={id}
              shape={<Shape tone={STATUS_TONES[status]} />}
              {...(onPage.has(id) ? { href: componentPath(id) } : {})}
              title={name}
              note={`${STATUS_WORDS[status]}${isOver ? ", ended" : ""}`}
            />
          ))}
        </ul>
      )}
      {more > 0 ? <p class="muted detail-body">And {more.toLocaleString("en")} more.</p> : null}
    </DetailCard>
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
