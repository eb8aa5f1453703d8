import type { DeliveryRow } from "../delivery-store";

/** Number of characters of an id that hold its time. */
const TIME_LENGTH = 10;
const RANDOM_LENGTH = 16;

/**
 * Returns the id of the mail of a delivery, the same for all of its retries. A delivery that is queued again by
 * a person gets another one, since receivers drop mails with an id that they have seen.
 */
export function alertMailId({ id, triesBefore }: Pick<DeliveryRow, "id" | "triesBefore">): string {
  const own = id.slice(id.indexOf("_") + 1);
  if (triesBefore === 0) return `eml_${own}`;
  const hash = new Bun.CryptoHasher("sha256").update(`${id}\n${triesBefore}`).digest("hex");
  return `eml_${own.slice(0, TIME_LENGTH)}${hash.slice(0, RANDOM_LENGTH)}`;
}
