import type { Reader } from "../../../db";
import type { WebhookFormat } from "../../../domain/webhook";
import { recipientKeyOf } from "../recipient";
import { findEnabledUserByEmail, listConfirmedRecipients } from "../store";

/** Properties of an endpoint that decide if its address gets alerts. */
interface Receiver {
  format: WebhookFormat;
  url: string;
  confirmedAt: number | null;
}

/**
 * Returns true if an endpoint may get events. The address of an endpoint for e-mail must be an enabled user's
 * or have confirmed, so that nobody can send mail to strangers.
 */
export function isOpenToEvents(reader: Reader, { format, url, confirmedAt }: Receiver): boolean {
  if (format !== "email" || confirmedAt !== null) return true;
  return findEnabledUserByEmail(reader, { email: recipientKeyOf(url) }) !== undefined;
}

/**
 * Returns the time at which the address of an endpoint confirmed alerts for another one (unix ms); null if it
 * did not, and for other formats.
 */
export function confirmedAtOf(
  reader: Reader,
  { format, url }: Pick<Receiver, "format" | "url">,
): number | null {
  if (format !== "email") return null;
  const key = recipientKeyOf(url);
  const rows = listConfirmedRecipients(reader, {});
  return rows.find((other) => recipientKeyOf(other.url) === key)?.confirmedAt ?? null;
}
