import { insertInto, type Tx } from "../db";
import { events } from "../db/tables/events";
import type { Clock } from "../kernel/clock";
import type { NewId } from "../kernel/ids";
import type { EventType } from "./catalog";

/** Something that happened, with the resource as the API shows it. */
export interface OutboxEvent {
  type: EventType;
  pageId: string | null;
  /** The id of the resource that it happened to. */
  subjectId: string;
  data: Record<string, unknown>;
}

export interface RecordedEvent extends OutboxEvent {
  id: string;
  /** Unix milliseconds. */
  at: number;
}

/** Events of one act in their order, such as an incident with the components that it changes. */
export type Act = readonly RecordedEvent[];

/**
 * Receives the events of a transaction once, act by act, at the end of the callback of `db.write`. What it
 * writes commits with them.
 */
export type EventSubscriber = (tx: Tx, acts: readonly Act[]) => void;

export interface Outbox {
  /** Writes the event in the transaction of the change that caused it, and answers it as written. */
  record(tx: Tx, event: OutboxEvent): RecordedEvent;
  /**
   * Runs one act of several that share a transaction, such as the result of one of many monitors. A
   * transaction without this is one act. Acts within an act belong to it.
   */
  act<T>(tx: Tx, act: () => T): T;
  /** Joins for good; a subscriber is introduced where the context is put together. */
  subscribe(subscriber: EventSubscriber): void;
}

/** Events of a transaction that the subscribers have not received yet, act by act. */
interface Unpublished {
  acts: RecordedEvent[][];
  /** Number of acts that have been entered and not left. */
  depth: number;
}

const insertEvent = insertInto(events);

export function createOutbox(clock: Clock, newId: NewId): Outbox {
  const subscribers: EventSubscriber[] = [];
  const unpublished = new WeakMap<Tx, Unpublished>();

  function unpublishedOf(tx: Tx): Unpublished {
    const known = unpublished.get(tx);
    if (known) return known;
    const made: Unpublished = { acts: [[]], depth: 0 };
    unpublished.set(tx, made);
    tx.atEnd(() => publish(tx, made));
    return made;
  }

  function publish(tx: Tx, { acts }: Unpublished): void {
    unpublished.delete(tx);
    const written = acts.filter((act) => act.length > 0);
    if (written.length === 0) return;
    for (const subscriber of subscribers) subscriber(tx, written);
  }

  return {
    record(tx, event) {
      const recorded = { ...event, id: newId("evt"), at: clock.now() };
      insertEvent(tx, recorded);
      unpublishedOf(tx).acts.at(-1)?.push(recorded);
      return recorded;
    },
    act(tx, act) {
      const own = unpublishedOf(tx);
      if (own.depth === 0) own.acts.push([]);
      own.depth += 1;
      try {
        return act();
      } finally {
        own.depth -= 1;
        if (own.depth === 0) own.acts.push([]);
      }
    },
    subscribe(subscriber) {
      subscribers.push(subscriber);
    },
  };
}
