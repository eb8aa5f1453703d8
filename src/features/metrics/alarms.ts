import { ALARM_KINDS } from "../alarms/kinds";
import type { Alarms } from "../alarms/alarms";
import type { MetricFamily } from "./metrics";

/** Metric of the alarms, each with 1 while its condition holds. */
export function alarmFamilies(alarms: Alarms): MetricFamily[] {
  return [
    {
      type: "gauge",
      name: "allclear_fleet_alarm",
      help: "1 for each kind of alarm whose condition holds, 0 for the others.",
      labelNames: ["kind"],
      *read() {
        const raised = new Set(alarms.list().map(({ kind }) => kind));
        for (const kind of ALARM_KINDS) yield { labels: { kind }, value: raised.has(kind) ? 1 : 0 };
      },
    },
  ];
}
