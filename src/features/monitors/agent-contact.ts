import { isCompatible } from "../locations/agent-wire";
import type { LocationRow } from "../locations/store";
import { VERSION } from "../../version";
import type { Monitoring, Presence } from "./monitoring";

/** A location with the contact of its agent. */
export interface AgentContact {
  row: LocationRow;
  presence: Presence;
  /** Last request of its agent in unix ms; undefined before the first. */
  contactAt: number | undefined;
}

export function readContact(
  row: LocationRow,
  agents: Pick<Monitoring, "presenceOf" | "contactAt">,
): AgentContact {
  return {
    row,
    presence: agents.presenceOf(row.id),
    contactAt: agents.contactAt(row.id) ?? row.contactAt ?? undefined,
  };
}

/** Returns true if the agent has another version than works with this server. */
export function isOutdated({ row: { agentVersion } }: AgentContact): boolean {
  return agentVersion !== null && !isCompatible(agentVersion, VERSION);
}

/** Returns true for an agent that has called, and is out of contact. */
export function isSilent({ presence, contactAt }: AgentContact): boolean {
  return contactAt !== undefined && presence !== "present";
}
