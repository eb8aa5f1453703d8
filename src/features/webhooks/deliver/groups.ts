/* Groups: what waited is closed into one, which is sent by its oldest delivery. Loaded with the first delivery. */
import { SECOND_MS } from "../../../base/time";
import { getsEachEvent, isForPeople, reportsEnds } from "../../../base/webhook";
import type { Ctx } from "../../../context";
import type { Reader, Tx } from "../../../db/statements";
import { EVENTS, type EventType } from "../../../events/outbox";
import type { DeliveryRow } from "../delivery-store";
import { DOWN_EVENTS } from "../gathering";
import {
  findNewerDelivered,
  insertGroup,
  joinGroup,
  listGathering,
  listMembers,
  listOvertaken,
  saveBurst,
  separateDeliveries,
} from "../gathering-store";
import { groupOf } from "../rules";
import type { WebhookRow } from "../store";

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

/** Properties of an endpoint that decide how it gets events. */
type Endpoint = Pick<WebhookRow, "format" | "settings">;

/** Event about a certificate, which a receiver keeps apart from the state of the monitor. */
const OF_CERTIFICATE: EventType = "monitor.certificate_expiring";

/** Returns the events after which an endpoint must not get a repeated attempt of an earlier message. */
function overtakingTypes(webhook: Endpoint, type: string): readonly EventType[] {
  if (!reportsEnds(webhook)) return OVERTAKEN_BY[type] ?? [];
  // A begin that arrives after the end would stay open at the receiver.
  const all = Object.keys(EVENTS) as EventType[];
  return all.filter((one) => (one === OF_CERTIFICATE) === (type === OF_CERTIFICATE));
}

/**
 * Ends the gathering of an endpoint: what waits becomes a group, which begins the next burst. If the
 * endpoint is no longer for people, each delivery is sent by itself.
 */
export function closeGroup(
  ctx: Ctx,
  tx: Tx,
  webhook: Endpoint & Pick<WebhookRow, "id" | "groupSeconds">,
): void {
  const { id: webhookId, groupSeconds } = webhook;
  const now = ctx.clock.now();
  if (getsEachEvent(webhook)) {
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
export function needsGroup(delivery: DeliveryRow, webhook: Endpoint): boolean {
  return delivery.gathers || (getsEachEvent(webhook) && groupOf(delivery) !== null);
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
  webhook: Endpoint,
): string[] {
  if (!isForPeople(webhook.format)) return [];
  const aboutMonitors = members.filter(({ delivery }) => delivery.monitorId !== null);
  const overtaken = listOvertaken(
    reader,
    aboutMonitors.map(({ delivery }) => delivery.id),
  );
  const retried = members.filter(({ delivery: { tries, triesBefore }, event }) => {
    return tries > 0 && triesBefore === 0 && overtakingTypes(webhook, event.type).length > 0;
  });
  const ended = retried.filter(({ delivery: { id }, event }) => {
    const types = JSON.stringify(overtakingTypes(webhook, event.type));
    return findNewerDelivered(reader, { id, types }) !== undefined;
  });
  return [...overtaken.map(({ id }) => id), ...ended.map(({ delivery }) => delivery.id)];
}
