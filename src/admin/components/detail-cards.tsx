import { COMPONENT_STATUSES, MONITOR_TONES, STATUS_TONES } from "../../base/status";
import { percent } from "../../base/numbers";
import { plural } from "../../base/text";
import { drawDays } from "../../public/component-list";
import { DayBars } from "../../ui/day-charts";
import { DenseRow, DenseTable, FigureCell, NameCell, TextCell } from "../../ui/list";
import { DetailCard } from "../../ui/detail";
import { MONITOR_WORDS, Shape, STATUS_WORDS } from "../../ui/blocks";
import { Sparkline } from "../../ui/sparkline";
import { LastDay } from "../monitors/list-row";
import { NEW_MONITOR_PATH } from "../monitors/monitor-paths";
import { Since } from "../monitors/state";
import { latencyInWords } from "../monitors/words";
import { monitorPath } from "../../ui/frame/paths";
import type { ComponentView } from "./component-view";

/** Uptime and last 90 days of a component as bars. */
export function Uptime({ name, view }: { name: string; view: ComponentView }) {
  const { history } = view;
  const days = drawDays(history?.days ?? []);
  return (
    <DetailCard
      title="Uptime"
      liveId="component-uptime"
      end={
        <span class="detail-sums">
          <span>
            24 h <b>{percent(view.dayUptime, 2)}</b>
          </span>
          <span>
            30 days <b>{percent(view.monthUptime, 2)}</b>
          </span>
          <span>
            90 days <b>{percent(history?.uptime ?? null, 2)}</b>
          </span>
        </span>
      }
    >
      <DayBars name={name} days={days} />
      <DayKey days={days} />
    </DetailCard>
  );
}

/** Number of days by worst status, except operational days. Renders nothing without other days. */
function DayKey({ days }: { days: ReturnType<typeof drawDays> }) {
  const byStatus = Map.groupBy(days, ({ status }) => status);
  const shown = COMPONENT_STATUSES.filter(
    (status) => status !== "operational" && byStatus.has(status),
  );
  if (shown.length === 0) return null;
  return (
    <ul class="chart-legend day-key">
      {shown.map((status) => (
        <li key={status}>
          <Shape tone={STATUS_TONES[status]} />
          {STATUS_WORDS[status]}, {plural(byStatus.get(status)?.length ?? 0, "day")}
        </li>
      ))}
    </ul>
  );
}

const COLUMNS = [
  { label: "Monitor" },
  { label: "Last 24 hours" },
  { label: "24 h", isNumeric: true },
  { label: "Response", isNumeric: true },
];

interface ComponentMonitorsProps {
  componentId: string;
  view: ComponentView;
  /** True if the user may create a monitor. */
  canAdd: boolean;
  now: number;
}

/** Monitors that set the status of a component. */
export function ComponentMonitors({ componentId, view, canAdd, now }: ComponentMonitorsProps) {
  const { monitors, recent, hasMoreMonitors } = view;
  const add = `${NEW_MONITOR_PATH}?component=${encodeURIComponent(componentId)}`;
  return (
    <DetailCard
      title="Monitors"
      liveId="component-monitors"
      count={
        monitors.length === 0
          ? undefined
          : hasMoreMonitors
            ? `the newest ${monitors.length}`
            : `${monitors.length}`
      }
      end={canAdd ? <a href={add}>Create monitor</a> : undefined}
      isTable
    >
      {monitors.length === 0 ? (
        <p class="muted detail-body">No monitor sets the status of this component.</p>
      ) : (
        <DenseTable columns={COLUMNS} caption="Monitors of this component">
          {monitors.map(({ row, state, lastCheck }) => (
            <DenseRow key={row.id}>
              <NameCell
                shape={
                  <Shape tone={MONITOR_TONES[state.state]} isPaused={state.state === "paused"} />
                }
                href={monitorPath(row.id)}
                name={row.name}
                note={
                  <>
                    {MONITOR_WORDS[state.state]} <Since at={state.since} now={now} />
                  </>
                }
              />
              <TextCell isBars>
                <LastDay name={row.name} recent={recent.get(row.num)} />
              </TextCell>
              <FigureCell isMiddle>{percent(recent.get(row.num)?.dayUptime ?? null, 2)}</FigureCell>
              <FigureCell>
                {typeof lastCheck?.latencyMs === "number"
                  ? latencyInWords(lastCheck.latencyMs)
                  : "–"}
              </FigureCell>
            </DenseRow>
          ))}
        </DenseTable>
      )}
    </DetailCard>
  );
}

/** Median response time of a component's monitors in the last 24 hours. Renders nothing without a response. */
export function ResponseTime({ view: { latency } }: { view: ComponentView }) {
  const { total, hours } = latency;
  if (total.p50Ms === null || total.p95Ms === null) return null;
  return (
    <DetailCard title="Response time" liveId="component-latency" count="last 24 hours">
      <p class="detail-figure">
        <b>{latencyInWords(total.p50Ms)}</b>{" "}
        <span class="muted">median, 95 % within {latencyInWords(total.p95Ms)}</span>
      </p>
      <Sparkline
        values={hours}
        label={`Median of the slowest monitor by hour, at most ${latencyInWords(Math.max(...hours))}`}
      />
      <p class="day-bars-foot" aria-hidden="true">
        <span>24 h ago</span>
        <span>Now</span>
      </p>
    </DetailCard>
  );
}
