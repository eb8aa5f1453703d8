import type { MetricFamily } from "../features/metrics/metrics";
import type { NodeState } from "./health-routes";

/** Returns a metric of a fleet with one value; `name` follows `allclear_fleet_`. */
export function fleetFamily(
  type: MetricFamily["type"],
  name: string,
  help: string,
  read: () => number,
): MetricFamily {
  return { name: `allclear_fleet_${name}`, help, type, read: () => [{ value: read() }] };
}

/** Returns the metric of a node's role, which is 1 while the node has it. */
export function roleFamily(role: NodeState["role"], hasRole: () => boolean): MetricFamily {
  return {
    name: "allclear_fleet_role",
    help: "1 for the role of this node.",
    type: "gauge",
    labelNames: ["role"],
    read: () => [{ labels: { role }, value: hasRole() ? 1 : 0 }],
  };
}
