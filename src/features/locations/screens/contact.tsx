import type { ComponentChildren } from "preact";
import type { Tone } from "../../../base/status";
import { toIso } from "../../../base/time";
import { State } from "../../../ui/blocks";
import { RelativeTime } from "../../../ui/times";
import { VERSION } from "../../../version";
import type { Monitoring, Presence } from "../../monitors/monitoring";
import { isCompatible } from "../agent-wire";
import type { LocationRow } from "../store";

/** A location with the contact of its agent. */
export interface AgentContact {
  row: LocationRow;
  presence: Presence;
  /** Last request of its agent in unix ms; undefined before the first. */
  heardAt: number | undefined;
}

export function readContact(row: LocationRow, monitoring: Monitoring): AgentContact {
  return {
    row,
    presence: monitoring.presenceOf(row.id),
    heardAt: monitoring.lastCallAt(row.id) ?? row.contactAt ?? undefined,
  };
}

/** Returns true if the agent has another version than works with this server. */
export function isOutdated({ row: { agentVersion } }: AgentContact): boolean {
  return agentVersion !== null && !isCompatible(agentVersion, VERSION);
}

/** Returns the tone of a location: how its agent is. */
export function contactTone(contact: AgentContact): Tone {
  if (isOutdated(contact)) return "degraded";
  if (contact.heardAt === undefined) return "none";
  if (contact.presence === "present") return "ok";
  return contact.presence === "silent" ? "degraded" : "partial";
}

/** State of an agent: its tone, in words, and a note with the time of its last request. */
export function describeContact(
  contact: AgentContact,
  now: number,
): { tone: Tone; words: string; note: ComponentChildren } {
  const { heardAt, presence } = contact;
  const tone = contactTone(contact);
  if (isOutdated(contact)) {
    return { tone, words: "Other version", note: `Waits for version ${VERSION}` };
  }
  if (heardAt === undefined) return { tone, words: "Never called", note: null };
  const words =
    presence === "present" ? "Connected" : presence === "silent" ? "Silent" : "Left out";
  const note = (
    <>
      Last call <RelativeTime at={toIso(heardAt)} now={now} />
    </>
  );
  return { tone, words, note };
}

/** State of an agent, above its note. */
export function ContactState({ of: contact, now }: { of: AgentContact; now: number }) {
  const { tone, words, note } = describeContact(contact, now);
  return (
    <>
      <State tone={tone}>{words}</State>
      {note === null ? null : <span class="note">{note}</span>}
    </>
  );
}
