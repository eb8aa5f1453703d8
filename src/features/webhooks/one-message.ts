import type { EventType, RecordedEvent } from "../../events";
import { type Data, recordsOf } from "./formats/reading";

/** Incident events that say all that a monitor's event of the same act says. */
const SAID_BY_INCIDENT: Partial<Record<EventType, readonly EventType[]>> = {
  "monitor.down": ["incident.created", "incident.reopened"],
  "monitor.up": ["incident.resolved"],
};

/**
 * Returns the events of one act that an endpoint for people receives, of those that it listens to: one
 * message for one act.
 *
 * A change of a component is left out where the message of an incident, a maintenance or a monitor names
 * that component. A monitor that goes down or up is left out where the incident that it opens or resolves
 * is told. `monitor.degraded` stays: "resolved" alone would hide that the service is slow.
 */
export function oneMessage(events: readonly RecordedEvent[]): RecordedEvent[] {
  const told = events.filter(({ data }) => data["notify"] !== false);
  return events.filter((event) => {
    if (event.type === "component.status_changed") {
      return !told.some((other) => isOfSamePage(other, event) && names(other, event.subjectId));
    }
    const sayers = SAID_BY_INCIDENT[event.type];
    return !told.some((other) => sayers?.includes(other.type) && isOfSamePage(event, other));
  });
}

/** True if the page of `one` is that of `other`, or if `one` concerns several pages. */
function isOfSamePage(one: RecordedEvent, other: RecordedEvent): boolean {
  return one.pageId === null || one.pageId === other.pageId;
}

/** True if the message of an event lists a component, be it among those that are only counted. */
function names({ type, data }: RecordedEvent, componentId: string): boolean {
  if (!/^(?:incident|maintenance|monitor)\./.test(type)) return false;
  if (type === "incident.postmortem_published") return false;
  return data["truncated"] === true || listsComponent(data, componentId);
}

function listsComponent(data: Data, componentId: string): boolean {
  return recordsOf(data, "components").some(({ id }) => id === componentId);
}
