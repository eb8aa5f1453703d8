import type { MonitorRecord } from "../../features/monitors/records";
import type { PeriodState, RecentTimes } from "../../features/monitors/overview";
import { EXPIRES_SOON_MS } from "../../base/secrets";
import { MONITOR_TONES, type Tone } from "../../base/status";
import { percent } from "../../base/numbers";
import { plural } from "../../base/text";
import { toIso } from "../../base/time";
import { DenseRow, FigureCell, NameCell, PickCell, TextCell } from "../../ui/list";
import { HalfHourBars } from "../../ui/half-hour-bars";
import { MONITOR_WORDS } from "../../ui/blocks";
import { RelativeTime } from "../../ui/times";
import { componentPath, monitorPath } from "../../ui/frame/paths";
import { StateShape } from "./list-tabs";
import { Since, UnreachableThrough } from "./state";
import { Tags } from "./tags";
import { TYPE_FORMS } from "./types";
import { intervalInWords, latencyInWords, targetOf, typeInWords, typeLabel } from "./words";

/** Maximum numbers of components and tags named in a row. Further ones are counted. */
const COMPONENTS_NAMED = 2;
const TAGS_SHOWN = 3;

/** Columns of the list of monitors after the first. */
export const COLUMNS = [
  { label: "Component", isSecondary: true },
  { label: "Last 24 hours" },
  { label: "24 h", isNumeric: true },
  { label: "30 days", isNumeric: true, isSecondary: true },
  { label: "Response", isNumeric: true },
  { label: "Checked", isNumeric: true, isSecondary: true },
];

interface RowProps {
  record: MonitorRecord;
  recent: RecentTimes | undefined;
  /** True if the row has a checkbox. */
  canPick: boolean;
  now: number;
}

/** Row of a monitor. */
export function MonitorRow({ record, recent, canPick, now }: RowProps) {
  const { row, state, components, lastCheck } = record;
  return (
    <DenseRow>
      {canPick ? <PickCell name="id" value={row.id} label={`Select ${row.name}`} /> : null}
      <NameCell
        shape={<StateShape state={state.state} />}
        href={monitorPath(row.id)}
        name={row.name}
        state={<RowState record={record} now={now} />}
        note={<RowNote record={record} now={now} />}
        tags={<Tags group={row.group} tags={row.tags} max={TAGS_SHOWN} />}
      />
      <TextCell isSecondary>
        <ComponentLinks components={components} />
      </TextCell>
      <TextCell isBars>
        <LastDay name={row.name} recent={recent} />
      </TextCell>
      <FigureCell isMiddle>{percent(recent?.dayUptime ?? null, 2)}</FigureCell>
      <FigureCell isSecondary>{percent(recent?.monthUptime ?? null, 2)}</FigureCell>
      <FigureCell>
        {lastCheck?.latencyMs === undefined || lastCheck.latencyMs === null
          ? "–"
          : latencyInWords(lastCheck.latencyMs)}
      </FigureCell>
      <FigureCell isSecondary>
        <span class="quiet-text">
          {lastCheck ? <RelativeTime at={toIso(lastCheck.at)} now={now} /> : "–"}
        </span>
      </FigureCell>
    </DenseRow>
  );
}

/** State after the name. “Up” is written only for screen readers, since the shape shows it. */
function RowState({ record, now }: { record: MonitorRecord; now: number }) {
  const { state } = record;
  if (state.state === "up") return <span class="visually-hidden">, {MONITOR_WORDS.up}</span>;
  return (
    <>
      <span class={`state t-${MONITOR_TONES[state.state]}`}>{MONITOR_WORDS[state.state]}</span>{" "}
      <span class="note-inline">
        <UnreachableThrough record={record} />
        <Since at={state.since} now={now} />
      </span>
    </>
  );
}

/** Expiry of a certificate that expires soon, else the interval of a job's heartbeats, else type and target. */
function RowNote({ record: { row, state }, now }: { record: MonitorRecord; now: number }) {
  const { certificateExpiresAt: end, heartbeatAt } = state;
  if (end !== null && end - now < EXPIRES_SOON_MS) {
    return (
      <span class={`state t-${end <= now ? "major" : "degraded"}`}>
        Certificate {end <= now ? "expired" : "expires"} <RelativeTime at={toIso(end)} now={now} />
      </span>
    );
  }
  if (TYPE_FORMS[row.type].isPush) {
    return (
      <>
        {typeLabel(row.type)} {intervalInWords(row)},{" "}
        {heartbeatAt === null ? (
          "none yet"
        ) : (
          <>
            last <RelativeTime at={toIso(heartbeatAt)} now={now} />
          </>
        )}
      </>
    );
  }
  return (
    <>
      {typeInWords(row)} · {targetOf(row)}
    </>
  );
}

function ComponentLinks({ components }: Pick<MonitorRecord, "components">) {
  if (components.length === 0) return <span class="quiet-text">None</span>;
  const more = components.length - COMPONENTS_NAMED;
  return (
    <ul class="plain-list">
      {components.slice(0, COMPONENTS_NAMED).map(({ id, name }) => (
        <li key={id}>
          <a href={componentPath(id)}>{name}</a>
        </li>
      ))}
      {more > 0 ? <li class="quiet-text">and {more} more</li> : null}
    </ul>
  );
}

const PERIOD_TONES: Readonly<Record<PeriodState, Tone>> = {
  unknown: "none",
  ok: "ok",
  maintenance: "maint",
  slow: "degraded",
  failed: "major",
};

interface LastDayProps {
  /** Name of the monitor. */
  name: string;
  recent: RecentTimes | undefined;
}

/** Last 24 hours of a monitor as bars of half an hour. */
export function LastDay({ name, recent }: LastDayProps) {
  const periods = recent?.periods ?? Array.from({ length: 48 }, () => "unknown" as const);
  return (
    <HalfHourBars
      tones={periods.map((period) => PERIOD_TONES[period])}
      label={`The last 24 hours of ${name}: ${describe(periods)}`}
    />
  );
}

const PERIOD_WORDS = [
  { state: "failed", word: "down" },
  { state: "slow", word: "slow" },
  { state: "maintenance", word: "in maintenance" },
  { state: "unknown", word: "unknown" },
] as const;

/** Returns periods as text: "down in 2 half hours, slow in 1 half hour", or "up". */
function describe(periods: readonly PeriodState[]): string {
  const texts = PERIOD_WORDS.flatMap(({ state, word }) => {
    const count = periods.filter((period) => period === state).length;
    return count === 0 ? [] : [`${word} in ${plural(count, "half hour")}`];
  });
  return texts.length === 0 ? "up" : texts.join(", ");
}
