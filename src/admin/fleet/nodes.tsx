import type { FleetNode } from "../../features/alarms/fleet";
import { capitalised } from "../../base/text";
import { toIso } from "../../base/time";
import { DetailCard, DetailRow } from "../../ui/detail";
import { Icon } from "../../ui/icons";
import { RelativeTime } from "../../ui/times";
import { State } from "../../ui/blocks";

/** Age of the last sign of life from which a node counts as gone, in ms. */
const GONE_MS = 10_000;

/** Lag from which a replica counts as behind, in seconds. */
const BEHIND_SECONDS = 10;

interface NodesProps {
  nodes: readonly FleetNode[];
  now: number;
}

/** Primary and replicas with their lag. */
export function NodesCard({ nodes, now }: NodesProps) {
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
