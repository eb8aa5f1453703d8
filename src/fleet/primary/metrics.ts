import type { MetricFamily } from "../../features/metrics/metrics";
import { fleetFamily, roleFamily } from "../metric-families";
import type { Primaryship } from "./primaryship";

/** Returns the metrics of a primary. */
export function primaryMetrics(primaryship: Primaryship): MetricFamily[] {
  return [
    roleFamily("primary", primaryship.isHeld),
    fleetFamily("gauge", "term", "Term of the primary.", () => primaryship.record()?.term ?? 0),
    fleetFamily(
      "gauge",
      "txid",
      "Last transaction of the log that is in the store.",
      () => primaryship.figures().txid,
    ),
    fleetFamily(
      "gauge",
      "lease_seconds_left",
      "Seconds until the primary stops unless its lease is renewed. Infinite with manual failover.",
      () => primaryship.leftMs() / 1_000,
    ),
    fleetFamily(
      "counter",
      "ack_local_total",
      "Writes that were acknowledged before their upload, because the store did not answer.",
      () => primaryship.figures().localWrites,
    ),
  ];
}
