/*
 * Messages for people about monitors. The first one of a burst is sent at once. Those that follow within the gathering
 * time of their endpoint wait for its end and are sent as a group, which begins the next such time.
 */
import { SECOND_MS } from "../../base/time";
import { isForPeople } from "../../base/webhook";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import type { EventType } from "../../events/outbox";
import type { DeliveryRow } from "./delivery-store";
import {
  findBurst,
  findGathering,
  findNewerDelivered,
  insertGroup,
  joinGroup,
  listEventTurns,
  listGathering,
  listGroupSeconds,
  listMembers,
  listOvertaken,
  saveBurst,
  separateDeliveries,
} from "./gathering-store";
import { groupOf } from "./rules";
import type { WebhookRow } from "./store";

/** Events whose messages say the state of a monitor. */
const STATE_EVENTS: ReadonlySet<string> = new Set<EventType>([
  "monitor.down",
  "monitor.up",
  "monitor.degraded",
  "monitor.reminder",
]);

/** Events that say that a monitor went down: its own, and those of incidents that take its place. */
const DOWN_EVENTS: ReadonlySet<string> = new Set<EventType>([
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
      .filter(({ format }) => isForPeople(format))
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

/* Groups: what waited is closed into one, which is sent by its oldest delivery. */

/** Maximum number of deliveries of one group, so that its message is written in some milliseconds. */
const MEMBERS_MAX = 500;

/** Events after which a repeated attempt of an earlier message about the same object would mislead. */
const OVERTAKEN_BY: Readonly<Record<string, readonly EventType[]>> = {
  "incident.created": ["incident.resolved"],
  "incident.reopened": ["incident.resolved"],
  "maintenance.started": ["maintenance.completed"],
  "fleet.alarm": ["fleet.alarm"],
} satisfies Partial<Record<EventType, readonly EventType[]>>;

/** A delivery with its event. */
export type Member = ReturnType<typeof listMembers>[number];

/** Properties of an endpoint that decide if its messages are gathered. */
type GatheringEndpoint = Pick<WebhookRow, "id" | "format" | "groupSeconds">;

/**
 * Ends the gathering of an endpoint: what waits becomes a group, which begins the next burst. If the
 * endpoint is no longer for people, each delivery is sent by itself.
 */
export function closeGroup(
  ctx: Ctx,
  tx: Tx,
  { id: webhookId, format, groupSeconds }: GatheringEndpoint,
): void {
  const now = ctx.clock.now();
  if (!isForPeople(format)) {
    separateDeliveries(tx, { webhookId, now });
    return;
  }
  const waiting = listGathering(tx, { webhookId, limit: MEMBERS_MAX });
  if (waiting.length === 0) return;
  const group = { id: ctx.newId("dgr"), webhookId, createdAt: now };
  insertGroup(tx, group);
  const ids = waiting.map(({ id }) => id);
  joinGroup(tx, ids, { groupId: group.id, now });
  const hasDown = waiting.some(({ type }) => DOWN_EVENTS.has(type));
  saveBurst(tx, { webhookId, endsAt: now + groupSeconds * SECOND_MS, hasDown });
}

/** True if a delivery must be put into a group, or be taken out of it, before it can be sent. */
export function needsGroup(delivery: DeliveryRow, { format }: GatheringEndpoint): boolean {
  return delivery.gathers || (!isForPeople(format) && groupOf(delivery) !== null);
}

/** Returns the pending deliveries that are sent with one, oldest first: those of its group, or the delivery alone. */
export function membersOf(reader: Reader, member: Member): Member[] {
  const groupId = groupOf(member.delivery);
  if (groupId === null) return [member];
  return listMembers(reader, { groupId }).filter(({ delivery }) => delivery.status === "pending");
}

/** Returns the deliveries that are or were sent with one, oldest first, without those that were overtaken before. */
export function sentWith(reader: Reader, member: Member): Member[] {
  const groupId = groupOf(member.delivery);
  if (groupId === null) return [member];
  return listMembers(reader, { groupId }).filter(
    ({ delivery: { id, status } }) => status !== "superseded" || id === member.delivery.id,
  );
}

/**
 * Returns the ids of those deliveries that must not be sent any more, since a newer message about the same object was
 * delivered. Programs get every event.
 */
export function overtakenAmong(
  reader: Reader,
  members: readonly Member[],
  { format }: Pick<GatheringEndpoint, "format">,
): string[] {
  if (!isForPeople(format)) return [];
  const aboutMonitors = members.filter(({ delivery }) => delivery.monitorId !== null);
  const overtaken = listOvertaken(
    reader,
    aboutMonitors.map(({ delivery }) => delivery.id),
  );
  const retried = members.filter(({ delivery: { tries, triesBefore }, event }) => {
    return tries > 0 && triesBefore === 0 && OVERTAKEN_BY[event.type] !== undefined;
  });
  const ended = retried.filter(({ delivery: { id }, event }) => {
    const types = JSON.stringify(OVERTAKEN_BY[event.type]);
    return findNewerDelivered(reader, { id, types }) !== undefined;
  });
  return [...overtaken.map(({ id }) => id), ...ended.map(({ delivery }) => delivery.id)];
}
