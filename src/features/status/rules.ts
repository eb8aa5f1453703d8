import type { ComponentStatus } from "../../kernel/component-status";

/** The headline's severity, best to worst. */
export const INDICATORS = ["none", "maintenance", "minor", "major", "critical"] as const;

export type Indicator = (typeof INDICATORS)[number];

/** How bad a page is as a whole, in a word and in a sentence. */
export interface Headline {
  indicator: Indicator;
  description: string;
}

const ALL_CLEAR: Headline = { indicator: "none", description: "All Systems Operational" };

/** The headline that a page's components make, by Atlassian Statuspage's sentences. */
export function headlineOf(statuses: readonly ComponentStatus[]): Headline {
  const count = (status: ComponentStatus) => statuses.filter((s) => s === status).length;
  const total = statuses.length;
  if (total === 0) return ALL_CLEAR;
  const major = count("major_outage");
  const partial = count("partial_outage");
  const degraded = count("degraded_performance");
  if (major === total) return { indicator: "critical", description: "Major System Outage" };
  if (major > 0 || partial === total) {
    return { indicator: "major", description: "Partial System Outage" };
  }
  if (partial > 0) return { indicator: "minor", description: "Minor Service Outage" };
  if (degraded === total) return { indicator: "minor", description: "Degraded System Service" };
  if (degraded > 0) return { indicator: "minor", description: "Partially Degraded Service" };
  if (count("under_maintenance") > 0) {
    return { indicator: "maintenance", description: "Service Under Maintenance" };
  }
  return ALL_CLEAR;
}
