/* Contact with the agents of locations: as the engine knows it, or as it is stored. */
import { MINUTE_MS, SECOND_MS } from "../../base/time";
import type { Ctx } from "../../context";
import { VERSION } from "../../version";
import { isCompatible } from "../locations/agent-wire";
import { findLocation, type LocationRow } from "../locations/store";
import { findLiveness } from "./spans-store";

/**
 * Contact with the agent of a location. `silent`: no request for 90 seconds. `left_out`: none for 10 minutes more, so
 * that the location does not count.
 */
export type Presence = "present" | "silent" | "left_out";

const SILENT_MS = 90 * SECOND_MS;
const LEFT_OUT_MS = SILENT_MS + 10 * MINUTE_MS;

/** Returns the contact after a time without a request. */
export function presenceAfter(silenceMs: number): Presence {
  if (silenceMs >= LEFT_OUT_MS) return "left_out";
  return silenceMs >= SILENT_MS ? "silent" : "present";
}

/**
 * Returns a function that computes the silence of an agent from its row, in ms. Silences end at the last liveness of a
 * server that runs checks, so that its own absence is none of theirs.
 */
export function storedSilences({ db, clock }: Pick<Ctx, "db" | "clock">) {
  const seenAt = findLiveness(db, {})?.at ?? clock.now();
  return ({ contactAt, createdAt }: LocationRow) => Math.max(0, seenAt - (contactAt ?? createdAt));
}

/** Knows the contact with agents: the engine, or the database. */
export interface ContactSource {
  /** Returns the contact with a location; `local` is always present. */
  presenceOf(locationId: string): Presence;
  /** Returns the time of the last request of an agent in unix ms; undefined if only the database may know one. */
  contactAt(locationId: string): number | undefined;
}

/** Returns the contact by the database, for processes to which no agent talks. */
export function storedContactSource(ctx: Pick<Ctx, "db" | "clock">): ContactSource {
  return {
    presenceOf(locationId) {
      const location = findLocation(ctx.db, { id: locationId });
      return location ? presenceAfter(storedSilences(ctx)(location)) : "present";
    },
    contactAt: () => undefined,
  };
}

/** A location with the contact of its agent. */
export interface AgentContact {
  row: LocationRow;
  presence: Presence;
  /** Last request of its agent in unix ms; undefined before the first. */
  contactAt: number | undefined;
}

export function readContact(row: LocationRow, agents: ContactSource): AgentContact {
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
export function hasGoneSilent({ presence, contactAt }: AgentContact): boolean {
  return contactAt !== undefined && presence !== "present";
}
