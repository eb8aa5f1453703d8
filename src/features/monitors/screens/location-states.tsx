/* Locations on the screen of a monitor: the state at each, and the results of a check that was made at once. */
import { LOCAL, MONITOR_TONES, type MonitorType, type Tone, worstTone } from "../../../base/status";
import { toIso } from "../../../base/time";
import { CheckLabel, MonitorLabel, Shape } from "../../../ui/blocks";
import { DetailCard } from "../../../ui/detail";
import { monitorPath } from "../../../ui/frame/paths";
import { type DenseDataColumn, DenseDataTable } from "../../../ui/list";
import { RelativeTime } from "../../../ui/times";
import { ContactState } from "../../locations/screens/contact";
import type { NamedLocationCheck, MonitorLocation } from "../monitor-locations";
import { CheckStepTable } from "./check-steps";
import { rangeQuery } from "./range";
import type { LocationView, MonitorView } from "./view";
import { latencyInWords, resultInWords, Since } from "./words";

/** Returns the name of a location: "This server" for the server. */
export function locationName({ id, name }: MonitorLocation): string {
  return id === LOCAL ? "This server" : name;
}

/** State of a monitor at each of its locations; the name of a location shows its results alone. */
export function Locations({ view, now }: { view: MonitorView; now: number }) {
  const { atLocations, location, range, record } = view;
  const { id, type } = record.row;
  if (atLocations.length === 0) return null;
  const pathOf = (ref: string | undefined) =>
    `${monitorPath(id)}${rangeQuery({ ...range, location: ref })}`;
  return (
    <DetailCard
      title="Locations"
      liveId="monitor-locations"
      end={location ? <a href={pathOf(undefined)}>Show all locations</a> : undefined}
      isTable
    >
      <DenseDataTable
        caption="State at each location"
        entries={atLocations}
        name={{
          label: "Location",
          cell: ({ state: { state }, location: own }) => ({
            shape: <Shape tone={MONITOR_TONES[state]} isPaused={state === "paused"} />,
            href: pathOf(own.ref),
            name: locationName(own),
            note: own.id === location?.id ? "shown below" : <code>{own.ref}</code>,
          }),
        }}
        columns={columns(type, now)}
      />
    </DetailCard>
  );
}

function columns(type: MonitorType, now: number): DenseDataColumn<LocationView>[] {
  return [
    {
      label: "State",
      cell: ({ state }) => (
        <>
          <MonitorLabel state={state.state} type={type} />
          <span class="note">
            <Since at={state.since} now={now} />
          </span>
        </>
      ),
    },
    {
      label: "Last result",
      isBars: true,
      cell: ({ lastCheck: check }) =>
        check ? (
          <>
            <CheckLabel outcome={check.outcome} />
            <span class="note">
              {check.latencyMs === null ? null : `${latencyInWords(check.latencyMs)} · `}
              <RelativeTime at={toIso(check.at)} now={now} />
              {check.message === null ? null : ` · ${check.message}`}
            </span>
          </>
        ) : (
          <span class="quiet-text">None yet</span>
        ),
    },
    {
      label: "Agent",
      isMiddle: true,
      cell: ({ agent }) =>
        agent ? <ContactState of={agent} now={now} /> : <span class="quiet-text">–</span>,
    },
  ];
}

/** Returns the results of a check at all locations in sentences, and the worst tone. */
export function resultsInWords(
  checks: readonly NamedLocationCheck[],
  zone: string,
): { tone: Tone; text: string } {
  const each = checks.map(({ location, check, steps, error }) => {
    const name = locationName(location);
    if (!check) return { tone: "degraded" as const, text: `${name}: ${error ?? "No result."}` };
    const { tone, text } = resultInWords(
      check,
      steps,
      zone,
      location.id === LOCAL ? "server" : "agent",
    );
    return { tone, text: `${name}: ${text}` };
  });
  return {
    tone: worstTone(each.map(({ tone }) => tone)),
    text: each.map(({ text }) => text).join(" "),
  };
}

/** Steps of a check at each location. */
export function LocationSteps({ checks }: { checks: readonly NamedLocationCheck[] }) {
  const shown = checks.filter(({ steps }) => steps.length > 0);
  return (
    <>
      {shown.map(({ location, steps }) => (
        <CheckStepTable
          key={location.id}
          liveId={`check-steps-${location.ref}`}
          title={`Steps of the check from ${location.id === LOCAL ? "this server" : location.name}`}
          steps={steps}
        />
      ))}
    </>
  );
}
