import { ANY_EVENT, getsEachEvent, matchesMonitor } from "../../base/webhook";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import type { EventGroup, EventSubscriber, EventType, RecordedEvent } from "../../events/outbox";
import {
  deleteBatch,
  findFirstBatch,
  hasBatches,
  insertBatch,
  insertDeliveries,
  setBatchWritten,
} from "./delivery-store";
import { recordsOf } from "./formats/reading";
import { type NewDelivery, setTurns } from "./gathering";
import { isOpenToEvents } from "./recipient";
import { listLiveWebhooks } from "./store";

type LiveWebhook = ReturnType<typeof listLiveWebhooks>[number];
/** Properties of an event that decide which endpoints subscribe to it. */
type Topic = Pick<RecordedEvent, "type" | "pageId" | "subjectId">;

/** Number of deliveries that one transaction writes: some milliseconds of work. */
const ROWS_PER_BATCH = 250;

/** Deliveries of every event to every endpoint. */
interface DeliverySet {
  eventIds: string[];
  webhookIds: string[];
  /** Monitors in whose place events of incidents are sent, by the ids of the events. */
  monitors: Record<string, string>;
}

/**
 * Queues events for the endpoints that receive them, in the transaction of the change. The deliverer is woken
 * after the commit.
 *
 * Up to 250 deliveries are written as rows at once. More than 250 are stored as batches for
 * `writeBatchedDeliveries`. While batches wait, new deliveries are stored as batches too, to keep the order.
 */
export function enqueueDeliveries(ctx: Ctx): EventSubscriber {
  return (tx, groups) => {
    const sets = deliverySetsOf(listOpenWebhooks(tx), groups);
    const count = sets.reduce((sum, set) => sum + countOf(set), 0);
    if (count === 0) return;
    if (count <= ROWS_PER_BATCH && !hasBatches(tx)) {
      for (const set of sets) writeDeliveries(ctx, tx, set, 0, countOf(set));
      return;
    }
    for (const set of sets) insertBatch(tx, { ...set, written: 0 });
    tx.afterCommit(() => ctx.signals.deliveriesBatched.emit());
  };
}

/** Lists the ids of the endpoints that receive the events of a topic, oldest first. */
export function listReceivers(reader: Reader, topic: Topic): string[] {
  return listOpenWebhooks(reader)
    .filter((webhook) => isSubscribedTo(webhook, topic))
    .map(({ id }) => id);
}

function listOpenWebhooks(reader: Reader): LiveWebhook[] {
  return listLiveWebhooks(reader, {}).filter((webhook) => isOpenToEvents(reader, webhook));
}

/** Queues a test event for its endpoint, even if the endpoint does not subscribe to it. */
export function queueTestEvent(ctx: Ctx, tx: Tx, { id, subjectId }: RecordedEvent): void {
  writeDeliveries(ctx, tx, { eventIds: [id], webhookIds: [subjectId], monitors: {} }, 0, 1);
}

/** Writes at most 250 deliveries of the first batch. Returns true if there may be more. */
export function writeBatchedDeliveries(ctx: Ctx, tx: Tx): boolean {
  const batch = findFirstBatch(tx, {});
  if (!batch) return false;
  const count = countOf(batch);
  const until = Math.min(batch.written + ROWS_PER_BATCH, count);
  writeDeliveries(ctx, tx, batch, batch.written, until);
  if (until < count) setBatchWritten(tx, { id: batch.id, written: until });
  else deleteBatch(tx, { id: batch.id });
  return true;
}

function countOf({ eventIds, webhookIds }: Pick<DeliverySet, "eventIds" | "webhookIds">): number {
  return eventIds.length * webhookIds.length;
}

/** Writes a part of the deliveries, counted event by event, and wakes the deliverer after the commit. */
function writeDeliveries(
  ctx: Ctx,
  tx: Tx,
  { eventIds, webhookIds, monitors }: DeliverySet,
  from: number,
  until: number,
): void {
  const added: NewDelivery[] = [];
  for (let index = from; index < until; index++) {
    const eventId = eventIds[Math.floor(index / webhookIds.length)];
    const webhookId = webhookIds[index % webhookIds.length];
    if (eventId === undefined || webhookId === undefined) continue;
    const id = ctx.newId("dlv");
    added.push({ id, eventId, webhookId, monitorId: null, gathers: false, dueAt: null });
  }
  setTurns(tx, added, monitors);
  insertDeliveries(tx, {
    rows: JSON.stringify(
      added.map(({ id, eventId, webhookId, monitorId, gathers, dueAt }) => {
        return [id, eventId, webhookId, monitorId, Number(gathers), dueAt];
      }),
    ),
  });
  const woken = new Set(added.map(({ webhookId }) => webhookId));
  tx.afterCommit(() => {
    for (const id of woken) ctx.signals.deliveriesQueued.emit(id);
  });
}

/** Returns the deliveries of the groups. Endpoints that receive the same events share a set. */
function deliverySetsOf(
  webhooks: readonly LiveWebhook[],
  groups: readonly EventGroup[],
): DeliverySet[] {
  const limited = groups.flat().filter(({ receivers }) => receivers !== undefined);
  const alike = Map.groupBy(webhooks, (webhook) => {
    const { id, pageId, events, monitors } = webhook;
    const receives = limited.map(({ receivers }) => receivers?.includes(id));
    return JSON.stringify([pageId, events, monitors, getsEachEvent(webhook), receives]);
  });
  return Array.from(alike.values(), (like) => {
    const messages = groups.flatMap((group) => (like[0] ? messagesFor(like[0], group) : []));
    const replacing = messages.flatMap(({ event, monitorId }) =>
      monitorId === undefined ? [] : [[event.id, monitorId] as const],
    );
    return {
      eventIds: messages.map(({ event }) => event.id),
      webhookIds: like.map(({ id }) => id),
      monitors: Object.fromEntries(replacing),
    };
  }).filter((set) => countOf(set) > 0);
}

/** An event that an endpoint receives. */
interface EventMessage {
  event: RecordedEvent;
  /** Monitor in whose place an incident's event is sent. */
  monitorId?: string | undefined;
}

/** Returns those events of a group that an endpoint receives. */
function messagesFor(webhook: LiveWebhook, group: EventGroup): EventMessage[] {
  const subscribed = group.filter(
    (event) => isSubscribedTo(webhook, event) && (event.receivers?.includes(webhook.id) ?? true),
  );
  return getsEachEvent(webhook)
    ? subscribed.map((event) => ({ event }))
    : withoutRedundant(webhook, subscribed);
}

function isSubscribedTo({ pageId, events: types, monitors }: LiveWebhook, event: Topic): boolean {
  // Test events are queued by `queueTestEvent`.
  if (event.type === "webhook.test") return false;
  if (pageId !== null && pageId !== event.pageId) return false;
  if (event.type.startsWith("monitor.") && !matchesMonitor(monitors, event.subjectId)) return false;
  return types.includes(ANY_EVENT) || types.includes(event.type);
}

/** Incident events whose messages say all that a monitor's message of the same group says. */
const COVERED_BY: Partial<Record<EventType, readonly EventType[]>> = {
  "monitor.down": ["incident.created", "incident.reopened"],
  "monitor.up": ["incident.resolved"],
};

/** Messages of monitors that say what an update says that Allclear wrote about them. */
const OWN_MESSAGES: Partial<Record<EventType, EventType>> = {
  "incident.updated": "monitor.down",
  "incident.resolved": "monitor.up",
};

/** Messages that end an outage of a monitor. */
const ENDS: ReadonlySet<string> = new Set<EventType>(["monitor.up", "monitor.degraded"]);

/** Events whose messages list the components that they change. */
const LISTS_COMPONENTS = /^(?:incident\.(?!postmortem)|maintenance\.|monitor\.)/;

/**
 * Returns the events of a group without those that another message already covers. `events` are those that an endpoint for
 * people subscribes to.
 *
 * An incident's message covers that of the monitor which opens or resolves it. Other updates that Allclear wrote about
 * monitors are covered by the messages of these monitors. A message that is sent covers the changes of the components
 * that it lists. `monitor.degraded` is always sent: "resolved" alone would hide that the service is slow.
 */
function withoutRedundant(webhook: LiveWebhook, events: readonly RecordedEvent[]): EventMessage[] {
  const isSent = ({ data }: RecordedEvent) => data["notify"] !== false;
  const wanted = events.filter((event) => !isCoveredByMonitors(webhook, event, events));
  const sent = wanted.filter(isSent);
  const coverOf = (event: RecordedEvent) =>
    sent.find((one) => COVERED_BY[event.type]?.includes(one.type) && isOnPageOf(event, one));
  const monitors = new Map(wanted.map((event) => [coverOf(event), event.subjectId]));
  const kept = wanted.filter((event) => !coverOf(event));
  const lists = kept.filter((event) => isSent(event) && LISTS_COMPONENTS.test(event.type));
  return kept
    .filter(
      (event) =>
        event.type !== "component.status_changed" ||
        !lists.some((message) => isOnPageOf(message, event) && listsComponent(message, event)),
    )
    .map((event) => ({ event, monitorId: monitors.get(event) }));
}

/**
 * True if Allclear wrote an incident's event about monitors whose own messages the endpoint gets. `group` are the events
 * of the same change that it gets. The end of an incident of one monitor is the message of the incident, unless the
 * monitor is degraded; that of several is the message of the last monitor.
 */
function isCoveredByMonitors(
  webhook: LiveWebhook,
  { type, monitors = [] }: RecordedEvent,
  group: readonly RecordedEvent[],
): boolean {
  const own = OWN_MESSAGES[type];
  if (own === undefined || monitors.length === 0) return false;
  if (type === "incident.resolved") {
    const isAbout = (subjectId: string) => monitors.some(({ id }) => id === subjectId);
    const end = group.find((event) => ENDS.has(event.type) && isAbout(event.subjectId));
    if (!end) return false;
    if (monitors.length === 1) return end.type === "monitor.degraded";
  }
  return monitors.every(({ id, pageId }) =>
    isSubscribedTo(webhook, { type: own, subjectId: id, pageId }),
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
