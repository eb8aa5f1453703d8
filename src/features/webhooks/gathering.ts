/*
 * Messages for people about monitors. The first one of a burst is sent at once. Those that follow within the gathering
 * time of their endpoint wait for its end and are sent as a group, which begins the next such time.
 */

import { SECOND_MS } from "../../base/time";
import { getsEachEvent } from "../../base/webhook";
import type { Tx } from "../../db/statements";
import type { EventType } from "../../events/outbox";
import {
  findBurst,
  findGathering,
  listEventTurns,
  listGroupSeconds,
  saveBurst,
} from "./gathering-store";

/** Events whose messages say the state of a monitor. */
const STATE_EVENTS: ReadonlySet<string> = new Set<EventType>([
  "monitor.down",
  "monitor.up",
  "monitor.degraded",
  "monitor.reminder",
]);

/** Events that say that a monitor went down: its own, and those of incidents that take its place. */
export const DOWN_EVENTS: ReadonlySet<string> = new Set<EventType>([
  "monitor.down",
  "incident.created",
  "incident.reopened",
]);

/** Time by which an event can be older than the burst: it was written later, or the clock was corrected by little. */
const SLACK_MS = SECOND_MS;

/** Time after a message about monitors in which further ones wait. */
interface Burst {
  /** Unix ms. */
  endsAt: number;
  /** True once one of its messages said that a monitor went down. */
  hasDown: boolean;
}

/** A message about a monitor, and the state of its endpoint. */
interface Arrival {
  /** Unix ms. */
  at: number;
  isDown: boolean;
  /** True for an incident's message that takes the place of the monitor's. */
  isIncident: boolean;
  groupMs: number;
  burst: Burst | undefined;
  /** True if messages wait for the next group. */
  isWaiting: boolean;
}

/**
 * Returns the burst after a message, and the time until which it waits (unix ms); undefined if it is sent at once. A
 * message waits while others wait or a burst lasts, except the first `down` of a burst without one.
 */
function turnOf({ at, isDown, isIncident, groupMs, burst, isWaiting }: Arrival): {
  waitsUntil?: number;
  burst: Burst | undefined;
} {
  if (groupMs === 0) return { burst };
  // One that ends later than now possible was begun before the clock was set back, or with a longer gathering time.
  const latestEnd = at + groupMs + SLACK_MS;
  const lasts = burst !== undefined && burst.endsAt > at && burst.endsAt <= latestEnd;
  const isFirstDown = isDown && burst?.hasDown !== true;
  if (!lasts && !isWaiting) return { burst: { endsAt: at + groupMs, hasDown: isDown } };
  if (isIncident || isFirstDown) {
    const endsAt = lasts ? burst.endsAt : at + groupMs;
    return { burst: { endsAt, hasDown: isDown || burst?.hasDown === true } };
  }
  return { burst, waitsUntil: lasts ? burst.endsAt : at };
}

/** A delivery that is written, with its turn. */
export interface NewDelivery {
  id: string;
  eventId: string;
  webhookId: string;
  monitorId: string | null;
  /** True if it joins the next group of its endpoint. */
  gathers: boolean;
  /** Unix ms; null for the time of its event. */
  dueAt: number | null;
}

/**
 * Sets the turns of deliveries, in their order. `monitors` names the monitors in whose place events of incidents are sent,
 * by the ids of the events.
 */
export function setTurns(
  tx: Tx,
  deliveries: readonly NewDelivery[],
  monitors: Readonly<Record<string, string>>,
): void {
  const events = byId(listEventTurns(tx, distinct(deliveries.map(({ eventId }) => eventId))));
  const isAboutMonitor = (id: string, type: string) =>
    type.startsWith("monitor.") || monitors[id] !== undefined;
  if (!events.values().some(({ id, type }) => isAboutMonitor(id, type))) return;
  const ids = distinct(deliveries.map(({ webhookId }) => webhookId));
  const endpoints = byId(
    listGroupSeconds(tx, ids)
      .filter((endpoint) => !getsEachEvent(endpoint))
      .map((endpoint) => ({
        ...endpoint,
        burst: findBurst(tx, { webhookId: endpoint.id }),
        isWaiting: findGathering(tx, { webhookId: endpoint.id }) !== undefined,
        isChanged: false,
      })),
  );
  for (const delivery of deliveries) {
    const event = events.get(delivery.eventId);
    const endpoint = endpoints.get(delivery.webhookId);
    if (!event || !endpoint || !isAboutMonitor(event.id, event.type)) continue;
    const replaced = monitors[event.id];
    delivery.monitorId = replaced ?? (STATE_EVENTS.has(event.type) ? event.subjectId : null);
    const { burst, waitsUntil } = turnOf({
      at: event.at,
      isDown: DOWN_EVENTS.has(event.type),
      isIncident: replaced !== undefined,
      groupMs: endpoint.groupSeconds * SECOND_MS,
      burst: endpoint.burst,
      isWaiting: endpoint.isWaiting,
    });
    if (waitsUntil !== undefined) {
      delivery.gathers = true;
      delivery.dueAt = waitsUntil;
      endpoint.isWaiting = true;
    }
    if (burst !== endpoint.burst) endpoint.isChanged = true;
    endpoint.burst = burst;
  }
  for (const { id, burst, isChanged } of endpoints.values()) {
    if (isChanged && burst) saveBurst(tx, { webhookId: id, ...burst });
  }
}

function byId<Row extends { id: string }>(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [row.id, row]));
}

function distinct(ids: readonly string[]): string[] {
  return [...new Set(ids)];
}
