import type { MetricFamily } from "../../features/metrics/metrics";
import type { Forwarder } from "./forward";
import type { NodeState } from "../health-routes";
import { fleetFamily, roleFamily } from "../metric-families";

/** Returns the metrics of a replica. */
export function replicaMetrics(
  state: () => NodeState,
  figures: () => { unsettled: number; restarts: number },
  forwarder: Forwarder,
  now: () => number,
): MetricFamily[] {
  return [
    roleFamily("replica", () => true),
    fleetFamily("gauge", "term", "Term of the primary.", () => state().term ?? 0),
    fleetFamily("gauge", "txid", "Last transaction that is applied.", () => state().txid ?? 0),
    fleetFamily("gauge", "lag_seconds", "Seconds since the data was the newest.", () => {
      const { asOf } = state();
      return asOf === undefined ? Number.POSITIVE_INFINITY : Math.max(0, now() - asOf) / 1_000;
    }),
    fleetFamily(
      "counter",
      "unsettled_total",
      "Reads that found a transaction half applied and were repeated.",
      () => figures().unsettled,
    ),
    fleetFamily(
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
