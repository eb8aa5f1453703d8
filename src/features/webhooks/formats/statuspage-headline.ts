import type { RecordedEvent } from "../../../events/outbox";
import { textOf } from "./reading";

interface Headline {
  indicator: string;
  description: string;
}

const HEADLINES: Readonly<Record<string, Headline>> = {
  under_maintenance: { indicator: "maintenance", description: "Service Under Maintenance" },
  in_progress: { indicator: "maintenance", description: "Service Under Maintenance" },
  verifying: { indicator: "maintenance", description: "Service Under Maintenance" },
  degraded_performance: { indicator: "minor", description: "Partially Degraded Service" },
  partial_outage: { indicator: "minor", description: "Minor Service Outage" },
  major_outage: { indicator: "major", description: "Partial System Outage" },
  minor: { indicator: "minor", description: "Minor Service Outage" },
  major: { indicator: "major", description: "Partial System Outage" },
  critical: { indicator: "critical", description: "Major System Outage" },
};

/**
 * Returns a headline from the severity of the event, for events without the page's own headline.
 */
export function headlineOf({ data }: RecordedEvent): Headline {
  const status = textOf(data, "status");
  const isOpen = status !== "resolved" && data["impact"] !== undefined;
  const headline = HEADLINES[(isOpen ? textOf(data, "impact") : status) ?? ""];
  return headline ?? { indicator: "none", description: "All Systems Operational" };
}
