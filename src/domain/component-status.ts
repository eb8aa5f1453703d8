/** The five statuses of a component, best to worst. Their order is the product's severity order. */
export const COMPONENT_STATUSES = [
  "operational",
  "under_maintenance",
  "degraded_performance",
  "partial_outage",
  "major_outage",
] as const;

export type ComponentStatus = (typeof COMPONENT_STATUSES)[number];

/** The statuses that people and incidents can set, best to worst. Maintenance sets the other one. */
export const NAMED_STATUSES = [
  "operational",
  "degraded_performance",
  "partial_outage",
  "major_outage",
] as const satisfies readonly ComponentStatus[];

export type NamedStatus = (typeof NAMED_STATUSES)[number];

/** Sources that can give a component a status. */
export const CAUSE_SOURCES = [
  "manual",
  "api",
  "incident",
  "maintenance",
  "monitor",
  "import",
] as const;

export type CauseSource = (typeof CAUSE_SOURCES)[number];

/** Returns a number that is greater for a worse status; 0 for `operational`. */
export function badnessOf(status: ComponentStatus): number {
  return COMPONENT_STATUSES.indexOf(status);
}

/** The worst of some statuses; `operational` when there are none. */
export function worstStatus(statuses: Iterable<ComponentStatus>): ComponentStatus {
  let worst = 0;
  for (const status of statuses) worst = Math.max(worst, badnessOf(status));
  return COMPONENT_STATUSES[worst] ?? "operational";
}
