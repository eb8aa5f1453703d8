import type { MetricFamily } from "../../features/metrics";
import type { Forwarder } from "./forward";
import type { NodeState } from "../health-routes";

/** Returns the metrics of a replica. */
export function replicaMetrics(
  state: () => NodeState,
  figures: () => { unsettled: number; restarts: number },
  forwarder: Forwarder,
  now: () => number,
): MetricFamily[] {
  const family = (
    type: MetricFamily["type"],
    name: string,
    help: string,
    read: () => number,
  ): MetricFamily => ({
    name: `allclear_fleet_${name}`,
    help,
    type,
    read: () => [{ value: read() }],
  });
  return [
    {
      name: "allclear_fleet_role",
      help: "1 for the role of this node.",
      type: "gauge",
      labelNames: ["role"],
      read: () => [{ labels: { role: "replica" }, value: 1 }],
    },
    family("gauge", "term", "Term of the primary.", () => state().term ?? 0),
    family("gauge", "txid", "Last transaction that is applied.", () => state().txid ?? 0),
    family("gauge", "lag_seconds", "Seconds since the data was the newest.", () => {
      const { asOf } = state();
      return asOf === undefined ? Number.POSITIVE_INFINITY : Math.max(0, now() - asOf) / 1_000;
    }),
    family(
      "counter",
      "unsettled_total",
      "Reads that found a transaction half applied and were repeated.",
      () => figures().unsettled,
    ),
    family(
      "counter",
      "follower_restarts_total",
      "Starts of the process that applies the log, after the first.",
      () => figures().restarts,
    ),
    {
      name: "allclear_fleet_forwards_total",
      help: "Requests that were sent to the primary, by outcome.",
      type: "counter",
      labelNames: ["outcome"],
      read: () =>
        Object.entries(forwarder.counts()).map(([outcome, value]) => ({
          labels: { outcome },
          value,
        })),
    },
  ];
}
