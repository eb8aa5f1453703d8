import { VERSION } from "../../version";
import { type MetricFamily, single } from "./family";

/** Metrics of the process's resources, under the names of Prometheus's own libraries. */
export function processFamilies(): MetricFamily[] {
  return [
    {
      type: "gauge",
      name: "allclear_build_info",
      help: "Always 1; the labels say what is running.",
      labelNames: ["version", "runtime"],
      read: () => [{ labels: { version: VERSION, runtime: `bun ${Bun.version}` }, value: 1 }],
    },
    single(
      "counter",
      "process_cpu_seconds_total",
      "Time that processors spent on the process, its own and the system's for it.",
      () => {
        const { user, system } = process.cpuUsage();
        return (user + system) / 1e6;
      },
    ),
    single("gauge", "process_resident_memory_bytes", "Memory that the process holds.", () =>
      process.memoryUsage.rss(),
    ),
    single(
      "gauge",
      "process_start_time_seconds",
      "When the process was started, in unix time.",
      () => performance.timeOrigin / 1_000,
    ),
  ];
}
