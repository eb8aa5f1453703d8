import { plural } from "../../base/text";
import { DAY_MS, HOUR_MS, MINUTE_MS, toIso } from "../../base/time";
import { duration } from "../../ui/times";
import { componentPath, COMPONENTS_PATH } from "../../ui/frame/paths";
import type { Lane, LastDay } from "./last-day";
import { Block } from "./parts";

/** Width of a lane, in minutes. */
const WIDTH = DAY_MS / MINUTE_MS;
/** Labelled times, in hours after the start. */
const TICKS = [0, 6, 12, 18];

/** Lane for each component that was not operational in the last 24 hours. */
export function LastDayBlock({ day }: { day: LastDay }) {
  const { lanes, from, hiddenCount, wellCount } = day;
  if (lanes.length === 0) return null;
  return (
    <Block
      id="last-day"
      title="Last 24 hours"
      aside={
        <span class="muted">
          {wellCount === 1
            ? "1 component was operational all day"
            : `${plural(wellCount, "component")} were operational all day`}
        </span>
      }
    >
      <ul class="lanes">
        {lanes.map((lane) => (
          <LaneRow key={lane.component.id} lane={lane} />
        ))}
        <li class="lane" aria-hidden="true">
          <span class="lane-axis">
            {TICKS.map((hours) => (
              <span key={hours}>{toIso(from + hours * HOUR_MS).slice(11, 16)}</span>
            ))}
            <span>Now</span>
          </span>
        </li>
        {hiddenCount > 0 ? (
          <li>
            <a href={COMPONENTS_PATH}>and {plural(hiddenCount, "more component")}</a>
          </li>
        ) : null}
      </ul>
    </Block>
  );
}

function LaneRow({ lane: { component, spans, troubledMs } }: { lane: Lane }) {
  const time = troubledMs < MINUTE_MS ? "< 1 min" : duration(Math.floor(troubledMs / MINUTE_MS));
  return (
    <li class="lane">
      <a href={componentPath(component.id)} title={component.name}>
        {component.name}
      </a>
      <svg
        viewBox={`0 0 ${WIDTH} 12`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${component.name}: not operational for ${time}`}
      >
        <rect class="track" width={WIDTH} height="12" />
        {spans.map(({ from, length, tone }) => (
          <rect key={from} class={`t-${tone}`} x={from} width={length} height="12" />
        ))}
      </svg>
      <span>{time}</span>
    </li>
  );
}
