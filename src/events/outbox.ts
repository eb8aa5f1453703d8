import type { AuthorKind } from "../base/actor";
import type { Clock } from "../base/clock";
import type { NewId } from "../base/ids";
import { insertAllInto, type Tx } from "../db/statements";
import { events } from "../db/tables/events";

/** A change, with the resource as the API shows it. */
export interface OutboxEvent {
  type: EventType;
  pageId: string | null;
  /** Id of the changed resource. */
  subjectId: string;
  data: Record<string, unknown>;
  /** True for a new update, or the first publication of a post-mortem: not for edits. Not stored. */
  isNews?: boolean;
  /** Author of the change, if people can get mails of it. Not stored. */
  author?: AuthorKind;
  /** Ids of the only endpoints that receive it; absent for all that subscribe to it. Not stored. */
  receivers?: readonly string[];
  /**
   * Monitors because of whose outages Allclear wrote it, with the page of their events; absent for the words of people.
   * Not stored.
   */
  monitors?: readonly { id: string; pageId: string | null }[] | undefined;
}

export interface RecordedEvent extends OutboxEvent {
  id: string;
  /** Unix milliseconds. */
  at: number;
}

/** Events that belong together, in their order, such as an incident with the components that it changes. */
export type EventGroup = readonly RecordedEvent[];

/**
 * Receives the groups of events of a transaction once, at the end of the callback of `db.write`. Its writes
 * commit with them.
 */
export type EventSubscriber = (tx: Tx, groups: readonly EventGroup[]) => void;

export interface Outbox {
  /** Writes the event in the transaction of its change, and returns it as written. */
  record(tx: Tx, event: OutboxEvent): RecordedEvent;
  /** Writes events like `record`, in order. */
  recordAll(tx: Tx, events: readonly OutboxEvent[]): RecordedEvent[];
  /**
   * Groups the events that `work` records: people get one message for a group. Nested calls join the outer
   * group; events outside any call form groups of their own.
   */
  group<T>(tx: Tx, work: () => T): T;
  /** Returns the events of a transaction that the subscribers have not received yet, in order. */
  listUnpublished(tx: Tx): RecordedEvent[];
  /** Adds a subscriber. Called while the context is created. */
  subscribe(subscriber: EventSubscriber): void;
}

/** Events of a transaction that the subscribers have not received yet. */
interface Unpublished {
  groups: RecordedEvent[][];
  /** Number of `group` calls that have begun and not ended. */
  depth: number;
}

const insertEvents = insertAllInto(events);

export function createOutbox(clock: Clock, newId: NewId): Outbox {
  const subscribers: EventSubscriber[] = [];
  const unpublished = new WeakMap<Tx, Unpublished>();

  function unpublishedOf(tx: Tx): Unpublished {
    const existing = unpublished.get(tx);
    if (existing) return existing;
    const made: Unpublished = { groups: [[]], depth: 0 };
    unpublished.set(tx, made);
    tx.atEnd(() => publish(tx, made));
    return made;
  }

  function publish(tx: Tx, { groups }: Unpublished): void {
    unpublished.delete(tx);
    const written = groups.filter((group) => group.length > 0);
    if (written.length === 0) return;
    for (const subscriber of subscribers) subscriber(tx, written);
  }

  function recordAll(tx: Tx, added: readonly OutboxEvent[]): RecordedEvent[] {
    const recorded = added.map((event) => ({ ...event, id: newId("evt"), at: clock.now() }));
    insertEvents(tx, recorded);
    unpublishedOf(tx)
      .groups.at(-1)
      ?.push(...recorded);
    return recorded;
  }

  return {
    record: (tx, event) => recordAll(tx, [event])[0] as RecordedEvent,
    recordAll,
    group(tx, work) {
      const own = unpublishedOf(tx);
      if (own.depth === 0) own.groups.push([]);
      own.depth += 1;
      try {
        return work();
      } finally {
        own.depth -= 1;
        if (own.depth === 0) own.groups.push([]);
      }
    },
    listUnpublished: (tx) => unpublished.get(tx)?.groups.flat() ?? [],
    subscribe(subscriber) {
      subscribers.push(subscriber);
    },
  };
}

/** Public events by type, as subscribers filter them. */
export const EVENTS = {
  "component.status_changed": "The status of a component changed.",
  "incident.created": "An incident was opened, or a draft published.",
  "incident.updated": "An incident got an update, or was edited.",
  "incident.resolved": "An incident was resolved.",
  "incident.reopened": "A resolved incident was reopened.",
  "incident.postmortem_published": "An incident's post-mortem was published.",
  "incident.deleted": "An incident was deleted.",
  "maintenance.scheduled": "A maintenance was planned.",
  "maintenance.updated": "A maintenance got an update, or was edited.",
  "maintenance.started": "A maintenance started.",
  "maintenance.completed": "A maintenance ended.",
  "maintenance.cancelled": "A maintenance was cancelled.",
  "maintenance.reminder": "A maintenance starts soon.",
  "monitor.down": "A monitor went down.",
  "monitor.up": "A monitor that was down or degraded is up.",
  "monitor.degraded": "A monitor is up but slow.",
  "monitor.reminder": "A monitor is still down.",
  "monitor.certificate_expiring": "A certificate expires in 14, 7, 3 or 1 days.",
  "location.offline": "The agent of a location has not called for 3 minutes.",
  "fleet.alarm": "An alarm of the network, the mirror, the CDN or the fleet began or ended.",
  "webhook.test": "A test was sent to a webhook.",
} as const;

export type EventType = keyof typeof EVENTS;
