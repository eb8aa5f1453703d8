/* Groups: what waited is closed into one, which is sent by its oldest delivery. Loaded with the first delivery. */
import { SECOND_MS } from "../../../base/time";
import { isForPeople } from "../../../base/webhook";
import type { Ctx } from "../../../context";
import type { Reader, Tx } from "../../../db/statements";
import type { EventType } from "../../../events/outbox";
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
