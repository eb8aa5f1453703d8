import type { ComponentChildren } from "preact";
import type { CdnState, FleetState, MirrorState } from "../../features/alarms/fleet";
import { capitalised } from "../../base/text";
import { MINUTE_MS, toIso } from "../../base/time";
import { DetailCard } from "../../ui/detail";
import { Facts, State } from "../../ui/blocks";
import { RelativeTime } from "../../ui/times";

/** Age from which a mirror is out of date. */
const STALE_MS = 5 * MINUTE_MS;

/** Static mirror with its age. */
export function MirrorCard({ mirror, now }: { mirror: MirrorState | undefined; now: number }) {
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
export function CdnCard({ cdn, now }: { cdn: CdnState | undefined; now: number }) {
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
export function FleetCard({ state }: { state: FleetState }) {
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
