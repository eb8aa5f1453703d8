import type { EventType, RecordedEvent } from "../../events";
import { recordsOf } from "./formats/reading";

/** Incident events whose messages say all that a monitor's message of the same act says. */
const COVERED_BY: Partial<Record<EventType, readonly EventType[]>> = {
  "monitor.down": ["incident.created", "incident.reopened"],
  "monitor.up": ["incident.resolved"],
};

/** Events whose messages list the components that they change. */
const NAMES_COMPONENTS = /^(?:incident\.(?!postmortem)|maintenance\.|monitor\.)/;

/**
 * Returns the events of one act that an endpoint for people receives, of those that it listens to: one
 * message for one act.
 *
 * A change of a component is left out where the message of an incident, a maintenance or a monitor names
 * that component. A monitor that goes down or up is left out where the incident that it opens or resolves
 * is sent. `monitor.degraded` stays: "resolved" alone would hide that the service is slow.
 */
export function oneMessage(events: readonly RecordedEvent[]): RecordedEvent[] {
  const messages = events.filter(
    ({ type, data }) => NAMES_COMPONENTS.test(type) && data["notify"] !== false,
  );
  if (messages.length === 0) return [...events];
  return events.filter((event) => {
    if (event.type === "component.status_changed") {
      return !messages.some((message) => isOfSamePage(message, event) && names(message, event));
    }
    const incidents = COVERED_BY[event.type];
    return !messages.some(
      (message) => incidents?.includes(message.type) && isOfSamePage(event, message),
    );
  });
}

/** True if the page of `one` is that of `other`, or if `one` concerns several pages. */
function isOfSamePage(one: RecordedEvent, other: RecordedEvent): boolean {
  return one.pageId === null || one.pageId === other.pageId;
}

/** True if a message lists the component of an event, be it among those that are only counted. */
function names({ data }: RecordedEvent, { subjectId }: RecordedEvent): boolean {
  if (data["truncated"] === true) return true;
  return recordsOf(data, "components").some(({ id }) => id === subjectId);
}
