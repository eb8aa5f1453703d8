import type { Reader } from "../../db/statements";
import { CHECK_OUTCOMES, MONITOR_STATES, SUPPORTED_TYPES } from "../../base/status";
import { sum } from "../../base/numbers";
import { countMonitorsByState } from "../monitors/store";
import { DELAY_BOUNDS_MS, type MonitoringFigures } from "../monitors/engine";
import { type MetricFamily, single } from "./metrics";

/** Delay in ms from which a check counts as late; one of the bounds of the delays. */
const LATE_MS = 1_000;

/** Metrics of the monitors' states, read from the database. */
export function monitorFamilies(reader: Reader): MetricFamily[] {
  return [
    {
      type: "gauge",
      name: "allclear_monitors",
      help: "Monitors by state.",
      labelNames: ["state"],
      *read() {
        const counts = new Map(
          countMonitorsByState(reader, {}).map(({ state, monitors }) => [state, monitors]),
        );
        for (const state of MONITOR_STATES) {
          yield { labels: { state }, value: counts.get(state) ?? 0 };
        }
      },
    },
  ];
}

/** Metrics of the check engine's own counters. */
export function checkFamilies(figures: () => MonitoringFigures): MetricFamily[] {
  return [
    {
      type: "counter",
      name: "allclear_monitor_checks_total",
      help: "Finished checks, by monitor type and outcome.",
      labelNames: ["type", "outcome"],
      *read() {
        const { checksByType } = figures();
        for (const type of SUPPORTED_TYPES) {
          for (const outcome of CHECK_OUTCOMES) {
            yield { labels: { type, outcome }, value: checksByType[type][outcome] };
          }
        }
      },
    },
    single("gauge", "allclear_monitor_checks_running", "Running checks.", () => figures().underWay),
    single(
      "counter",
      "allclear_monitor_checks_begun_total",
      "Scheduled checks that were started.",
      () => sum(figures().delays),
    ),
    single(
      "counter",
      "allclear_monitor_checks_late_total",
      "Scheduled checks that started more than a second late.",
      () => sum(figures().delays.slice(DELAY_BOUNDS_MS.indexOf(LATE_MS) + 1)),
    ),
    single(
      "counter",
      "allclear_monitor_check_delay_seconds_total",
      "Total delay of scheduled checks.",
      () => figures().delaySumMs / 1_000,
    ),
    single(
      "gauge",
      "allclear_monitor_results_waiting",
      "Results that wait to be written.",
      () => figures().waiting,
    ),
    single(
      "counter",
      "allclear_monitor_results_dropped_total",
      "Results that were lost because the database could not be written.",
      () => figures().dropped,
    ),
    {
      type: "counter",
      name: "allclear_monitor_checks_discarded_total",
      help: "Results that were discarded and their checks repeated, by reason.",
      labelNames: ["reason"],
      read: () => [{ labels: { reason: "stall" }, value: figures().stalled }],
    },
    single(
      "counter",
      "allclear_monitor_checks_held_total",
      "Failed checks that were held because this server may have lost its network.",
      () => figures().held,
    ),
  ];
}
