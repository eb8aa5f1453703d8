import type { Reader } from "../../db/statements";
import { findAutomatic, listOutagesOfIncident } from "./outage-store";
import type { IncidentRow } from "./store";

/** An outage of an incident, with the names of its monitor and component. */
export type ShownOutage = ReturnType<typeof listOutagesOfIncident>[number];

/** Outages of an incident, and what follows from them. */
export interface IncidentOutages {
  /** Oldest first. */
  outages: readonly ShownOutage[];
  /** True while monitors that fail join the incident and their recovery resolves it. */
  isAutomatic: boolean;
  /** Time at which a person or a key took over an incident that Allclear opened, in unix ms. */
  takenOverAt: number | null;
  /** Time at which an update about what changed since the last one is written, in unix ms. */
  updateDueAt: number | null;
  /** Ids of the monitors with an open outage. */
  failingMonitorIds: readonly string[];
  /** True for an open incident of which all outages have ended, and which Allclear does not resolve by itself. */
  isOver: boolean;
  /** True if `splitOff` can move some of the outages into an incident of their own. */
  canSplitOff: boolean;
}

/** Returns the outages of an incident. */
export function readOutages(
  reader: Reader,
  { id, status }: Pick<IncidentRow, "id" | "status">,
): IncidentOutages {
  const outages = listOutagesOfIncident(reader, { incidentId: id });
  const automatic = findAutomatic(reader, { incidentId: id });
  const takenOverAt = automatic?.takenOverAt ?? null;
  const isAutomatic = automatic !== undefined && takenOverAt === null;
  const open = outages.filter(
    ({ outage, isComponentDeleted }) => outage.endedAt === null && isComponentDeleted === 0,
  );
  const failing = new Set(open.map(({ outage }) => outage.monitorId));
  const isOpen = status !== "resolved";
  return {
    outages,
    isAutomatic,
    takenOverAt,
    updateDueAt: automatic?.updateDueAt ?? null,
    failingMonitorIds: [...failing],
    isOver: isOpen && outages.length > 0 && failing.size === 0,
    canSplitOff: isAutomatic && isOpen && failing.size > 1,
  };
}
