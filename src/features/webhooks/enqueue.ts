import type { AppContext } from "../../context";
import type { Tx } from "../../db";
import type { Act, EventSubscriber, RecordedEvent } from "../../events";
import { ANY_EVENT } from "./bodies";
import {
  deleteBatch,
  findFirstBatch,
  insertBatch,
  insertDeliveries,
  setBatchWritten,
} from "./delivery-store";
import { FORMATS } from "./formats";
import { dropRedundantEvents } from "./redundant-events";
import { listLiveWebhooks } from "./store";

type Services = Pick<AppContext, "newId" | "signals">;
type LiveWebhook = ReturnType<typeof listLiveWebhooks>[number];

/** Number of deliveries that one transaction writes: some milliseconds of work. */
const ROWS_AT_ONCE = 250;

/** Each of these events for each of these endpoints. */
interface Wanted {
  eventIds: string[];
  webhookIds: string[];
}

/**
 * Queues events for the endpoints that want them, in the transaction of the change. The deliverer is woken
 * after the commit.
 *
 * A few deliveries are written as rows at once. More than 250 are kept as lists of events and endpoints, for
 * `writeBatchedDeliveries`: 50,000 rows would hold every request up for half a second. While such lists
 * wait, later deliveries go behind them, so that the order of a subject's events stays.
 */
export function enqueueDeliveries(ctx: Services): EventSubscriber {
  return (tx, acts) => {
    const wanted = wantedBy(listLiveWebhooks(tx, {}), acts);
    const count = wanted.reduce((sum, each) => sum + countOf(each), 0);
    if (count === 0) return;
    if (count <= ROWS_AT_ONCE && !findFirstBatch(tx, {})) {
      for (const each of wanted) writeDeliveries(ctx, tx, each, 0, countOf(each));
      return;
    }
    for (const each of wanted) insertBatch(tx, { ...each, written: 0 });
    tx.afterCommit(() => ctx.signals.deliveriesBatched.emit());
  };
}

/** Queues the event with which one endpoint is tried out, whatever that listens to. */
export function queueTestEvent(ctx: Services, tx: Tx, { id, subjectId }: RecordedEvent): void {
  writeDeliveries(ctx, tx, { eventIds: [id], webhookIds: [subjectId] }, 0, 1);
}

/** Writes at most 250 of the deliveries that wait as lists. Answers whether there may be more. */
export function writeBatchedDeliveries(ctx: Services, tx: Tx): boolean {
  const batch = findFirstBatch(tx, {});
  if (!batch) return false;
  const count = countOf(batch);
  const until = Math.min(batch.written + ROWS_AT_ONCE, count);
  writeDeliveries(ctx, tx, batch, batch.written, until);
  if (until < count) setBatchWritten(tx, { id: batch.id, written: until });
  else deleteBatch(tx, { id: batch.id });
  return true;
}

function countOf({ eventIds, webhookIds }: Wanted): number {
  return eventIds.length * webhookIds.length;
}

/** Writes a part of the deliveries, counted event by event, and wakes the deliverer after the commit. */
function writeDeliveries(
  ctx: Services,
  tx: Tx,
  { eventIds, webhookIds }: Wanted,
  from: number,
  until: number,
): void {
  const pairs: [id: string, eventId: string, webhookId: string][] = [];
  for (let index = from; index < until; index++) {
    const eventId = eventIds[Math.floor(index / webhookIds.length)];
    const webhookId = webhookIds[index % webhookIds.length];
    if (eventId !== undefined && webhookId !== undefined) {
      pairs.push([ctx.newId("dlv"), eventId, webhookId]);
    }
  }
  insertDeliveries(tx, { pairs: JSON.stringify(pairs) });
  const woken = new Set(pairs.map(([, , webhookId]) => webhookId));
  tx.afterCommit(() => {
    for (const id of woken) ctx.signals.deliveriesQueued.emit(id);
  });
}

/** Returns which endpoints want which events. Endpoints that receive the same are put together. */
function wantedBy(webhooks: readonly LiveWebhook[], acts: readonly Act[]): Wanted[] {
  const alike = Map.groupBy(webhooks, ({ pageId, events, format }) =>
    JSON.stringify([pageId, events, FORMATS[format].isForPeople]),
  );
  return Array.from(alike.values(), (group) => ({
    eventIds: acts.flatMap((act) => (group[0] ? received(group[0], act) : [])),
    webhookIds: group.map(({ id }) => id),
  })).filter((each) => countOf(each) > 0);
}

/** Returns the ids of those events of an act that an endpoint receives. */
function received(webhook: LiveWebhook, act: Act): string[] {
  const wanted = act.filter((event) => wants(webhook, event));
  const events = FORMATS[webhook.format].isForPeople ? dropRedundantEvents(wanted) : wanted;
  return events.map(({ id }) => id);
}

function wants({ pageId, events: types }: LiveWebhook, event: RecordedEvent): boolean {
  // The test event is for one endpoint alone and queued where it is sent.
  if (event.type === "webhook.test") return false;
  if (pageId !== null && pageId !== event.pageId) return false;
  return types.includes(ANY_EVENT) || types.includes(event.type);
}
