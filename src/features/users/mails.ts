/*
 * Mails to users, as they are queued and found again. Their texts are in `letters.ts`.
 */
import { parseStoredAddress } from "../../base/mail-address";
import { DAY_MS, HOUR_MS } from "../../base/time";
import type { Ctx } from "../../context";
import type { Reader, Tx } from "../../db/statements";
import { enqueueMails } from "../mail/mail";
import { mailReadiness } from "../mail/settings";
import { listMailsAbout } from "../mail/store";
import type { UserRow } from "./store";

/** Place of the change of a password. */
export type PasswordChange = "account" | "link" | "command";

/** Mail to a user, with the values that it is written from. */
export type UserMail =
  | { template: "invitation"; params: { by: string } }
  | { template: "password_reset"; params: Record<never, never> }
  | { template: "password_changed"; params: { by: PasswordChange; at: number } }
  | { template: "expiring_keys"; params: { keys: string[] } };

type UserTemplate = UserMail["template"];

/** Class of each mail, and the time after which it is not sent any more. */
const SENDING: Record<UserTemplate, { class: 1 | 2; lastsMs: number }> = {
  invitation: { class: 1, lastsMs: 7 * DAY_MS },
  password_reset: { class: 1, lastsMs: HOUR_MS },
  password_changed: { class: 1, lastsMs: 3 * DAY_MS },
  expiring_keys: { class: 2, lastsMs: 3 * DAY_MS },
};

/** Queues a mail to a user, and returns true. Returns false if mail is not ready, or the email is no address for mail. */
export function mailUser(
  ctx: Ctx,
  tx: Tx,
  { id, email }: Pick<UserRow, "id" | "email">,
  mail: UserMail,
): boolean {
  const recipient = parseStoredAddress(email, { allowUtf8Local: true });
  if ("error" in recipient || !mailReadiness(ctx).ready) return false;
  const { lastsMs, ...sending } = SENDING[mail.template];
  const expiresAt = ctx.clock.now() + lastsMs;
  enqueueMails(ctx, tx, [{ ...mail, ...sending, recipient, subjectId: id, expiresAt }]);
  return true;
}

/** Queues the mail that tells a user of a changed password. */
export function mailChangedPassword(ctx: Ctx, tx: Tx, user: UserRow, by: PasswordChange): void {
  const params = { by, at: ctx.clock.now() };
  mailUser(ctx, tx, user, { template: "password_changed", params });
}

/** Lists a user's mails of a kind that were queued after `since` (unix ms), newest first. */
export function listMailsTo(
  reader: Reader,
  userId: string,
  template: UserTemplate,
  { since, limit }: { since: number; limit: number },
) {
  return listMailsAbout(reader, { subjectId: userId, template, since, limit });
}

/** Mails of a user that are read to find the last one with a result. */
const MAILS_READ = 20;

/** Last mail about a user's account, if it did not arrive at the relay. */
export interface MailTrouble {
  template: string;
  /** True if it is tried again. */
  isWaiting: boolean;
  /** Last reply of the relay; null if there was none. */
  reply: string | null;
  /** Time of the failure, or of the queuing of a mail that is tried again (unix ms). */
  at: number;
}

/** Finds the trouble with a user's last account mail; undefined if the relay took it, or there was none. */
export function findMailTrouble(reader: Reader, userId: string): MailTrouble | undefined {
  const mails = listMailsAbout(reader, {
    subjectId: userId,
    template: "",
    since: 0,
    limit: MAILS_READ,
  });
  const last = mails.find(
    ({ class: mailClass, status, tries }) =>
      mailClass === 1 && status !== "cancelled" && (status !== "pending" || tries > 0),
  );
  if (!last || last.status === "sent") return undefined;
  const { template, status, reply, createdAt, finishedAt } = last;
  return { template, isWaiting: status === "pending", reply, at: finishedAt ?? createdAt };
}
