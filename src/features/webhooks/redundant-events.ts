import type { EventType, RecordedEvent } from "../../events";
import { recordsOf } from "./formats/reading";

/** Incident events whose messages say all that a monitor's message of the same group says. */
const COVERED_BY: Partial<Record<EventType, readonly EventType[]>> = {
  "monitor.down": ["incident.created", "incident.reopened"],
  "monitor.up": ["incident.resolved"],
};

/** Events whose messages list the components that they change. */
const LISTS_COMPONENTS = /^(?:incident\.(?!postmortem)|maintenance\.|monitor\.)/;

/**
 * Returns the events of a group without those that another message of the group already covers. `events`
 * are those that an endpoint for people subscribes to.
 *
 * An incident's message covers that of the monitor which opens or resolves it. A message that is sent covers
 * the changes of the components that it lists. `monitor.degraded` is always sent: "resolved" alone would
 * hide that the service is slow.
 */
export function dropRedundantEvents(events: readonly RecordedEvent[]): RecordedEvent[] {
  const isSent = ({ data }: RecordedEvent) => data["notify"] !== false;
  const sent = events.filter(isSent);
  const kept = events.filter(
    (event) =>
      !sent.some((one) => COVERED_BY[event.type]?.includes(one.type) && isOnPageOf(event, one)),
  );
  const lists = kept.filter((event) => isSent(event) && LISTS_COMPONENTS.test(event.type));
  return kept.filter(
    (event) =>
      event.type !== "component.status_changed" ||
      !lists.some((message) => isOnPageOf(message, event) && listsComponent(message, event)),
  );
}

/** True if `specific` happened on the page of `general`, or if `general` concerns several pages. */
function isOnPageOf(general: RecordedEvent, specific: RecordedEvent): boolean {
  return general.pageId === null || general.pageId === specific.pageId;
}

/** True if a message lists the component, or has a truncated list. */
function listsComponent({ data }: RecordedEvent, { subjectId }: RecordedEvent): boolean {
  if (data["truncated"] === true) return true;
  return recordsOf(data, "components").some(({ id }) => id === subjectId);
}
