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

/** Runs inside the transaction of the change, so that what it writes commits with the event. */
export type EventSubscriber = (tx: Tx, event: RecordedEvent) => void;

export interface Outbox {
  /** Writes the event in the transaction of the change that caused it, and answers it as written. */
  record(tx: Tx, event: OutboxEvent): RecordedEvent;
  /** Joins for good; a subscriber is introduced where the context is put together. */
  subscribe(subscriber: EventSubscriber): void;
}

const insertEvent = insertInto(events);

export function createOutbox(clock: Clock, newId: NewId): Outbox {
  const subscribers: EventSubscriber[] = [];
  return {
    record(tx, event) {
      const recorded = { ...event, id: newId("evt"), at: clock.now() };
      insertEvent(tx, recorded);
      for (const subscriber of subscribers) subscriber(tx, recorded);
      return recorded;
    },
    subscribe(subscriber) {
      subscribers.push(subscriber);
    },
  };
}
