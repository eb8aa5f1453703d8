import type { Alarm } from "../../features/alarms/alarms";
import type { Fleet } from "../../features/alarms/fleet";
import { toIso } from "../../base/time";
import { Columns, Shape, State } from "../../ui/blocks";
import { DetailCard, DetailRow } from "../../ui/detail";
import { PageHead } from "../../ui/navigation";
import { RelativeTime } from "../../ui/times";
import { CdnCard, FleetCard, MirrorCard } from "./cards";
import { NodesCard } from "./nodes";
import { OrphansCard } from "./orphans";

interface FleetProps {
  /** Undefined if no part for more than one machine is set up. */
  fleet: Fleet | undefined;
  /** True for owners. */
  canDismiss: boolean;
  /** Unix ms. */
  now: number;
}

/** Settings → Fleet: the state of the parts for more than one machine, and their alarms. */
export function FleetScreen({ fleet, canDismiss, now }: FleetProps) {
  const state = fleet?.nodes?.();
  return (
    <>
      <PageHead title="Fleet">
        A static mirror, a CDN and replicas keep status pages available when this machine is not.
        All are optional.
      </PageHead>
      <Columns
        aside={
          <>
            <MirrorCard mirror={fleet?.mirror?.()} now={now} />
            <CdnCard cdn={fleet?.cdn?.()} now={now} />
            {state ? <FleetCard state={state} /> : null}
          </>
        }
      >
        <AlarmsCard alarms={fleet?.alarms.list() ?? []} now={now} />
        {state && state.orphans.length > 0 ? (
          <OrphansCard orphans={state.orphans} canDismiss={canDismiss} />
        ) : null}
        {state ? <NodesCard nodes={state.nodes} now={now} /> : null}
      </Columns>
    </>
  );
}

/** Conditions that hold now, worst first. */
function AlarmsCard({ alarms, now }: { alarms: readonly Alarm[]; now: number }) {
  return (
    <DetailCard
      title="Alarms"
      liveId="fleet-alarms"
      count={alarms.length === 0 ? undefined : alarms.length.toLocaleString("en")}
      isFlush={alarms.length > 0}
    >
      {alarms.length === 0 ? (
        <>
          <p>
            <State tone="ok">No alarm</State>
          </p>
          <p class="detail-note">
            Alarms appear here, on the overview and in the log. Webhooks get{" "}
            <code>fleet.alarm</code> when one begins and when it ends.
          </p>
        </>
      ) : (
        <ul class="detail-rows">
          {alarms.map(({ kind, name, tone, detail, since }) => (
            <DetailRow
              key={kind}
              shape={<Shape tone={tone} />}
              title={name}
              note={
                <>
                  {detail} Since <RelativeTime at={toIso(since)} now={now} />.
                </>
              }
            />
          ))}
        </ul>
      )}
    </DetailCard>
  );
}
