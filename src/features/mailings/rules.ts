import type { AuthorKind } from "../../base/actor";
import type { SubscriberEvent } from "../../base/mail-address";
import type { EventType, RecordedEvent } from "../../events/outbox";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../base/time";

/** Events of which visitors get mails, with the choice that includes each. */
const CHOICES: Partial<Record<EventType, SubscriberEvent>> = {
  "incident.created": "incidents",
  "incident.updated": "incidents",
  "incident.resolved": "incidents",
  "incident.reopened": "incidents",
  "incident.postmortem_published": "incidents",
  "maintenance.scheduled": "maintenance",
  "maintenance.updated": "maintenance",
  "maintenance.started": "maintenance",
  "maintenance.completed": "maintenance",
  "maintenance.cancelled": "maintenance",
  "maintenance.reminder": "maintenance",
  "component.status_changed": "status",
};

/** Events that are mailed only if they are news: the same event is recorded for edits. */
const NEEDS_NEWS: ReadonlySet<EventType> = new Set([
  "incident.updated",
  "incident.resolved",
  "incident.reopened",
  "incident.postmortem_published",
  "maintenance.updated",
]);

/** Events that wait for the end of a subject's window. */
const WAITS: ReadonlySet<string> = new Set<EventType>(["incident.updated", "maintenance.updated"]);
const ENDS_MAINTENANCE: ReadonlySet<string> = new Set<EventType>([
  "maintenance.completed",
  "maintenance.cancelled",
]);

/** Time between the starts of two mailings of a subject, if the later one is an update. */
const WINDOW_MS = 120 * SECOND_MS;
/** Time for which a component has to show a new status, and for which its changes are merged. */
export const STATUS_WAIT_MS = 120 * SECOND_MS;
const STATUS_MERGE_MS = 15 * MINUTE_MS;
/** Time after a plan or a start in which a reminder is left out. */
export const REMINDER_DISTANCE_MS = 15 * MINUTE_MS;
/** Latest begin of a mail after its event. */
const LATEST_MS = DAY_MS;
/** Maximum age of an update at its creation, by its `display_at`. */
const BACKDATED_MS = HOUR_MS;
/** Mailings of a page within 24 hours that begin without an admin, for each kind of author. */
export const MAILINGS_PER_DAY: Readonly<Record<AuthorKind, number>> = {
  monitor: 50,
  key: 200,
  person: 200,
};

const AUTHOR_WORDS: Readonly<Record<AuthorKind, string>> = {
  monitor: "monitors",
  key: "API keys",
  person: "people",
};

/** Returns the reason for which a mailing of an author is held. */
export function limitReason(author: AuthorKind): string {
  const limit = `${MAILINGS_PER_DAY[author]} mailings of ${AUTHOR_WORDS[author]}`;
  return `A page sends at most ${limit} in 24 hours.`;
}

/** Returns all limits as text: "50 mailings of monitors, 200 of API keys and 200 of people". */
export function limitsInWords(): string {
  const { monitor, key, person } = MAILINGS_PER_DAY;
  return `${monitor} mailings of monitors, ${key} of API keys and ${person} of people`;
}

/** Returns the choice of subscribers that includes an event; undefined for events that are never mailed. */
export function choiceOf(type: string): SubscriberEvent | undefined {
  return CHOICES[type as EventType];
}

interface UpdateFacts {
  id?: string;
  display_at: string;
  created_at: string;
}

/** Returns the update in the data of an event. */
export function updateOf(data: RecordedEvent["data"]): UpdateFacts | undefined {
  const update = data["latest_update"];
  return typeof update === "object" && update !== null ? (update as UpdateFacts) : undefined;
}

/** Page of an event. */
interface MailedPage {
  visibility: "public" | "private";
  isSample: boolean;
}

/** Returns the reason for which no event of a page is mailed; undefined if events are mailed. */
export function pageReason({ visibility, isSample }: MailedPage): string | undefined {
  if (visibility === "private") return "The page is private.";
  return isSample ? "The page is the sample page." : undefined;
}

/** Reason for the state of a mail about an event that is not news. */
const NO_NEWS: Partial<Record<EventType, string>> = {
  "incident.postmortem_published": "Only the first publication of a post-mortem is mailed.",
};
export const DRAFT_REASON = "Nothing is mailed before its publication.";
export const EDIT_REASON = "Edits are not mailed.";

/**
 * Returns the reason for which an event is not mailed to the subscribers of a public page, apart from conditions on
 * earlier mailings: those of reminders and statuses. Undefined if it is mailed.
 */
export function silentReason(event: RecordedEvent): string | undefined {
  const { type, data, at } = event;
  if (choiceOf(type) === undefined) return "Such changes are not mailed.";
  if (data["source"] === "import") return "Imported incidents are not mailed.";
  if (NEEDS_NEWS.has(type) && event.isNews !== true) return NO_NEWS[type] ?? EDIT_REASON;
  if (data["notify"] === false) return "The field notify is false.";
  if (type === "incident.created" && data["status"] === "resolved") {
    return "An incident that is recorded as resolved is not mailed.";
  }
  if (deadlineAt(event) <= at) return "The planned end of the maintenance is in the past.";
  if (isBackdated(event)) return "The update is dated back by more than an hour.";
  return undefined;
}

/** True if the update of an event took effect more than an hour before it was written. */
function isBackdated({ type, data }: RecordedEvent): boolean {
  if (type === "incident.postmortem_published" || type === "maintenance.reminder") return false;
  const update = updateOf(data);
  if (!update) return false;
  return Date.parse(update.created_at) - Date.parse(update.display_at) > BACKDATED_MS;
}

/** Returns the time (unix ms) at which a mailing begins. `lastBeganAt` is of its subject's last mailing. */
export function beginAt(type: string, at: number, lastBeganAt: number | null): number {
  if (type === "component.status_changed") {
    return Math.max(at + STATUS_WAIT_MS, (lastBeganAt ?? 0) + STATUS_MERGE_MS);
  }
  return WAITS.has(type) ? Math.max(at, (lastBeganAt ?? 0) + WINDOW_MS) : at;
}

/** Returns the time (unix ms) from which no mail of a mailing begins any more. */
export function deadlineAt({
  type,
  at,
  data,
}: Pick<RecordedEvent, "type" | "at" | "data">): number {
  const latest = at + LATEST_MS;
  const until = data["scheduled_until"];
  if (!type.startsWith("maintenance.") || ENDS_MAINTENANCE.has(type)) return latest;
  return typeof until === "string" ? Math.min(latest, Date.parse(until)) : latest;
}

/** True if an incident or a maintenance in an event names a component, or if its list was cut. */
export function namesComponent(data: RecordedEvent["data"], componentId: string): boolean {
  if (data["truncated"] === true) return true;
  const components = data["components"];
  return (
    Array.isArray(components) &&
    components.some((each: { id?: unknown }) => each.id === componentId)
  );
}

/** Returns the ids of the components in an event's list. */
export function componentIdsOf(data: RecordedEvent["data"]): string[] {
  const components = data["components"];
  if (!Array.isArray(components)) return [];
  return components.flatMap(({ id }: { id?: unknown }) => (typeof id === "string" ? [id] : []));
}
