import type { DeliveryRow } from "../delivery-store";
import { groupOf } from "../deliver/groups";

/** Number of characters of an id that hold its time. */
const TIME_LENGTH = 10;
const RANDOM_LENGTH = 16;

/**
 * Returns the id of the mail of a delivery or of its group, the same for all of its retries. A delivery that is queued
 * again by a person gets another one, since receivers drop mails with an id that they have seen.
 */
export function alertMailId(delivery: Pick<DeliveryRow, "id" | "groupId" | "triesBefore">): string {
  const { triesBefore } = delivery;
  const id = groupOf(delivery) ?? delivery.id;
  const own = id.slice(id.indexOf("_") + 1);
  if (triesBefore === 0) return `eml_${own}`;
  const hash = new Bun.CryptoHasher("sha256").update(`${id}\n${triesBefore}`).digest("hex");
  return `eml_${own.slice(0, TIME_LENGTH)}${hash.slice(0, RANDOM_LENGTH)}`;
}
