import type { ComponentChildren } from "preact";
import type { Tone } from "../../../base/status";
import { toIso } from "../../../base/time";
import { State } from "../../../ui/blocks";
import { RelativeTime } from "../../../ui/times";
import { VERSION } from "../../../version";
import { type AgentContact, isOutdated, type Presence } from "../../monitors/agent-contact";

/** Agents that have called, by their contact, with what follows for their monitors. */
const PRESENCES: Readonly<Record<Presence, { tone: Tone; words: string; effect?: string }>> = {
  present: { tone: "ok", words: "Connected" },
  silent: { tone: "degraded", words: "Silent", effect: "The last state still counts." },
  left_out: { tone: "partial", words: "Left out", effect: "The location does not count." },
};

/** State of an agent: its tone, in words, and a note with the time of its last request. */
export function describeContact(
  contact: AgentContact,
  now: number,
): { tone: Tone; words: string; note: ComponentChildren } {
  const { contactAt, presence } = contact;
  if (isOutdated(contact)) {
    return { tone: "degraded", words: "Other version", note: `Waits for version ${VERSION}` };
  }
  if (contactAt === undefined) return { tone: "none", words: "Never called", note: null };
  const { tone, words, effect } = PRESENCES[presence];
  const note = (
    <>
      Last call <RelativeTime at={toIso(contactAt)} now={now} />
      {effect === undefined ? null : `. ${effect}`}
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
