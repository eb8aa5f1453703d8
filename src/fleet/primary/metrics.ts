import type { MetricFamily } from "../../features/metrics";
import type { Primaryship } from "./primaryship";

/** Returns the metrics of a primary. */
export function primaryMetrics(primaryship: Primaryship): MetricFamily[] {
  const gauge = (name: string, help: string, read: () => number): MetricFamily => ({
    name,
    help,
    type: "gauge",
    read: () => [{ value: read() }],
  });
  return [
    {
      name: "allclear_fleet_role",
      help: "1 for the role of this node.",
      type: "gauge",
      labelNames: ["role"],
      read: () => [{ labels: { role: "primary" }, value: primaryship.isHeld() ? 1 : 0 }],
    },
    gauge("allclear_fleet_term", "Term of the primary.", () => primaryship.record()?.term ?? 0),
    gauge(
      "allclear_fleet_txid",
      "Last transaction of the log that is in the store.",
      () => primaryship.figures().txid,
    ),
    gauge(
      "allclear_fleet_lease_seconds_left",
      "Seconds until the primary stops unless its lease is renewed. Infinite with manual failover.",
      () => primaryship.leftMs() / 1_000,
    ),
    {
      ...gauge(
        "allclear_fleet_ack_local_total",
        "Writes that were acknowledged before their upload, because the store did not answer.",
        () => primaryship.figures().localWrites,
      ),
      type: "counter",
    },
  ];
}
