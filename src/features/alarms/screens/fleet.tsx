import type { ComponentChildren } from "preact";
import { roleAllows } from "../../../base/actor";
import { capitalised, plural } from "../../../base/text";
import { MINUTE_MS, toIso } from "../../../base/time";
import { sessionOf } from "../../../http/request-context";
import { Columns, Facts, Shape, State } from "../../../ui/blocks";
import { Button } from "../../../ui/buttons";
import { DetailCard, DetailRow } from "../../../ui/detail";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { FLEET_PATH } from "../../../ui/frame/paths";
import { crumbsAbove } from "../../../ui/frame/places";
import { Icon } from "../../../ui/icons";
import { PageHead } from "../../../ui/navigation";
import { createArea } from "../../../ui/screens/area";
import { RelativeTime } from "../../../ui/times";
import type { Alarm } from "../alarms";
import {
  type CdnState,
  dismissOrphans,
  type Fleet,
  type FleetNode,
  type FleetState,
  type MirrorState,
  type SetAside,
  setAsideId,
} from "../fleet";

/** Settings → Fleet: for admins. Owners dismiss events of earlier primaries. */
export function fleetAdminRoutes(deps: AdminDependencies) {
  const area = createArea(deps, FLEET_PATH, "admin");
  area.screen("", ({ requestContext }) => {
    const canDismiss = roleAllows(sessionOf(requestContext).user.role, "owner");
    const { now } = requestContext;
    return {
      title: "Fleet",
      children: <FleetScreen fleet={deps.fleet} canDismiss={canDismiss} now={now} />,
    };
  });

  area.screen("/orphans", () => ({ path: FLEET_PATH }));

  area.action("/orphans", {
    role: "owner",
    run(tx, { sent }, actor) {
      const id = sent.text("database");
      const orphans = deps.fleet?.nodes?.().orphans ?? [];
      const setAside = orphans.find((one) => setAsideId(one) === id);
      return setAside !== undefined && dismissOrphans(deps.ctx, tx, setAside, actor);
    },
    done: (isDismissed) => ({
      path: FLEET_PATH,
      text: isDismissed ? "The events were dismissed." : undefined,
    }),
  });
  return area.routes;
}

interface FleetProps {
  /** Undefined if no part for more than one machine is set up. */
  fleet: Fleet | undefined;
  /** True for owners. */
  canDismiss: boolean;
  /** Unix ms. */
  now: number;
}

/** Settings → Fleet: the state of the parts for more than one machine, and their alarms. */
function FleetScreen({ fleet, canDismiss, now }: FleetProps) {
  const state = fleet?.nodes?.();
  return (
    <>
      <PageHead title="Fleet" crumbs={crumbsAbove(FLEET_PATH)}>
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

/** Age from which a mirror is out of date. */
const STALE_MS = 5 * MINUTE_MS;

/** Static mirror with its age. */
function MirrorCard({ mirror, now }: { mirror: MirrorState | undefined; now: number }) {
  if (!mirror) {
    return (
      <Absent title="Mirror" liveId="fleet-mirror" state="No mirror">
        <code>--mirror</code> writes a static copy of the public pages into a folder or a bucket
        after each change.
      </Absent>
    );
  }
  const { target, asOf, files, error } = mirror;
  const isStale = asOf === undefined || now - asOf > STALE_MS;
  return (
    <DetailCard title="Mirror" liveId="fleet-mirror" isFlush>
      <Facts
        items={[
          {
            label: "State",
            value:
              error !== undefined ? (
                <State tone="partial">Last write failed</State>
              ) : asOf === undefined ? (
                <State tone="none">Not written yet</State>
              ) : isStale ? (
                <State tone="partial">Out of date</State>
              ) : (
                <State tone="ok">Up to date</State>
              ),
          },
          { label: "Place", value: <code>{target}</code> },
          { label: "Written", value: <Time at={asOf} now={now} /> },
          { label: "Files", value: files.toLocaleString("en") },
          ...(error === undefined ? [] : [{ label: "Reason", value: error }]),
        ]}
      />
    </DetailCard>
  );
}

/** CDN mode, and purging. */
function CdnCard({ cdn, now }: { cdn: CdnState | undefined; now: number }) {
  if (!cdn) {
    return (
      <Absent title="CDN" liveId="fleet-cdn" state="Off">
        <code>--cdn</code> prepares public answers for shared caches. Without it they may be cached
        for 15 seconds.
      </Absent>
    );
  }
  const { seconds, purgeHost, purgedAt, error } = cdn;
  return (
    <DetailCard title="CDN" liveId="fleet-cdn" isFlush>
      <Facts
        items={[
          {
            label: "State",
            value:
              error === undefined ? (
                <State tone="ok">On</State>
              ) : (
                <State tone="degraded">Last purge failed</State>
              ),
          },
          { label: "Cache time", value: `${seconds.toLocaleString("en")} s` },
          { label: "Purge address", value: purgeHost ?? "None" },
          ...(purgeHost === undefined
            ? []
            : [{ label: "Last purge", value: <Time at={purgedAt} now={now} /> }]),
          ...(error === undefined ? [] : [{ label: "Reason", value: error }]),
        ]}
      />
    </DetailCard>
  );
}

/** Settings and term of a fleet. */
function FleetCard({ state }: { state: FleetState }) {
  const { term, store, failover, ack, valkey } = state;
  return (
    <DetailCard title="Primary" liveId="fleet-primary" isFlush>
      <Facts
        items={[
          { label: "Term", value: term === undefined ? "None yet" : String(term) },
          { label: "Store", value: <code>{store}</code> },
          { label: "Failover", value: capitalised(failover) },
          {
            label: "Writes",
            value:
              ack === "replicated" ? "Acknowledged after upload" : "Acknowledged before upload",
          },
          {
            label: "Valkey",
            value: !valkey ? (
              "None: each node applies limits by itself"
            ) : (
              <>
                <State tone={valkey.isAvailable ? "ok" : "degraded"}>
                  {valkey.isAvailable ? "Available" : "Unavailable"}
                </State>{" "}
                <code>{valkey.address}</code>
              </>
            ),
          },
        ]}
      />
    </DetailCard>
  );
}

interface AbsentProps {
  title: string;
  liveId: string;
  state: string;
  /** Sentence about the option that sets it up. */
  children: ComponentChildren;
}

/** Card of a part that is not set up. */
function Absent({ title, liveId, state, children }: AbsentProps) {
  return (
    <DetailCard title={title} liveId={liveId}>
      <p>
        <State tone="none">{state}</State>
      </p>
      <p class="detail-note">{children}</p>
    </DetailCard>
  );
}

/** Time of the last success; undefined before the first. */
function Time({ at, now }: { at: number | undefined; now: number }) {
  return at === undefined ? <>Never</> : <RelativeTime at={toIso(at)} now={now} />;
}

/** Age of the last sign of life from which a node counts as gone, in ms. */
const GONE_MS = 10_000;

/** Lag from which a replica counts as behind, in seconds. */
const BEHIND_SECONDS = 10;

interface NodesProps {
  nodes: readonly FleetNode[];
  now: number;
}

/** Primary and replicas with their lag. */
function NodesCard({ nodes, now }: NodesProps) {
  return (
    <DetailCard
      title="Nodes"
      liveId="fleet-nodes"
      count={nodes.length.toLocaleString("en")}
      isFlush
    >
      <ul class="detail-rows">
        {nodes.map((node) => (
          <DetailRow
            key={node.name}
            shape={<Icon name="server" />}
            title={node.name}
            note={<About node={node} now={now} />}
            end={<NodeState node={node} now={now} />}
          />
        ))}
      </ul>
    </DetailCard>
  );
}

/** Role, lag, transaction, version and last sign of life of a node. */
function About({ node, now }: { node: FleetNode; now: number }) {
  const { role, isEligible, isSelf, version, txid, lagSeconds, seenAt } = node;
  const facts = [
    isEligible && role === "replica" ? "Eligible replica" : capitalised(role),
    role === "primary" || lagSeconds === undefined ? "" : `${lagSeconds.toFixed(1)} s behind`,
    txid === undefined ? "" : `transaction ${txid}`,
    version,
  ];
  return (
    <>
      {facts.filter(Boolean).join(" · ")} ·{" "}
      {isSelf ? (
        "this node"
      ) : (
        <>
          seen <RelativeTime at={toIso(seenAt)} now={now} />
        </>
      )}
    </>
  );
}

function NodeState({ node, now }: { node: FleetNode; now: number }) {
  if (!node.isSelf && now - node.seenAt > GONE_MS) return <State tone="major">Not seen</State>;
  if ((node.lagSeconds ?? 0) > BEHIND_SECONDS) return <State tone="degraded">Behind</State>;
  return <State tone="ok">{node.role === "primary" ? "Writes" : "Up to date"}</State>;
}

interface OrphansProps {
  orphans: readonly SetAside[];
  /** True for owners. */
  canDismiss: boolean;
}

/** Events of earlier primaries that the present history lacks, by database. */
function OrphansCard({ orphans, canDismiss }: OrphansProps) {
  return (
    <DetailCard title="Changes of earlier primaries" liveId="fleet-orphans" isFlush>
      <ul class="detail-rows">
        {orphans.map((one) => (
          <DetailRow
            key={setAsideId(one)}
            shape={<Icon name="server" />}
            title={`${plural(one.events, "event")} on ${one.node}`}
            note={
              <>
                List them with <code>allclear fleet orphans {one.file}</code> on that node.
              </>
            }
            end={canDismiss ? <Dismiss of={one} /> : undefined}
          />
        ))}
      </ul>
    </DetailCard>
  );
}

function Dismiss({ of }: { of: SetAside }) {
  return (
    <form method="post" action={`${FLEET_PATH}/orphans`}>
      <Button name="database" value={setAsideId(of)}>
        Dismiss events
      </Button>
    </form>
  );
}
