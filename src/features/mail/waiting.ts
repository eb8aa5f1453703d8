import type { Reader } from "../../db/statements";
import type { MailClass } from "../../base/mail-address";
import { findMail, findNextMailing } from "./queue-store";
import {
  countPendingOfMailings,
  countWaiting,
  findPendingOfMailing,
  sumOfOpenMailings,
} from "./waiting-store";

/** Returns the number of pending mails of a class, and the time at which the oldest was queued (unix ms). */
export function waitingMails(
  reader: Reader,
  one: MailClass,
): { count: number; oldestAt: number | undefined } {
  if (one === 3) return waitingOfMailings(reader);
  const { count = 0, oldestId = null } = countWaiting(reader, { class: one }) ?? {};
  const oldest = oldestId === null ? undefined : findMail(reader, { id: oldestId });
  return { count, oldestAt: oldest?.createdAt };
}

/** Number of waiting mails up to which rows are counted; beyond it the counts of mailings are added up. */
const COUNTED_MAX = 1_000;

/** There can be 100,000: neither are all rows counted, nor is the oldest looked for among all of them. */
function waitingOfMailings(reader: Reader): ReturnType<typeof waitingMails> {
  const times: number[] = [];
  for (let after = ""; ;) {
    const id = findNextMailing(reader, { after })?.id ?? null;
    if (id === null) break;
    after = id;
    const found = findPendingOfMailing(reader, { mailingId: id });
    if (found) times.push(found.createdAt);
  }
  const counted = countPendingOfMailings(reader, { limit: COUNTED_MAX + 1 })?.count ?? 0;
  const count =
    counted <= COUNTED_MAX ? counted : Math.max(counted, sumOfOpenMailings(reader, {})?.count ?? 0);
  return { count, oldestAt: times.length > 0 ? Math.min(...times) : undefined };
}
