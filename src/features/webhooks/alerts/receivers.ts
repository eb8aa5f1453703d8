import type { Reader } from "../../../db/statements";
import type { WebhookFormat } from "../../../base/webhook";
import { addressHmac, findMailKey } from "../../mail/tokens";
import { hasStoppedAlerts } from "../../mail/alert-stop-store";
import { recipientKeyOf } from "../recipient";
import {
  findEnabledUserByEmail,
  listConfirmedRecipients,
  listMailWebhooks,
  type WebhookRow,
} from "../store";

/** Properties of an endpoint that decide if its address gets alerts. */
interface Receiver {
  format: WebhookFormat;
  url: string;
  confirmedAt: number | null;
}

/**
 * Returns true if an endpoint may get events. The address of an endpoint for e-mail must be an enabled user's
 * or have confirmed, so that nobody can send mail to strangers, and its owner must not have stopped alerts.
 */
export function isOpenToEvents(reader: Reader, { format, url, confirmedAt }: Receiver): boolean {
  if (format !== "email") return true;
  const address = recipientKeyOf(url);
  const isWelcome =
    confirmedAt !== null || findEnabledUserByEmail(reader, { email: address }) !== undefined;
  if (!isWelcome) return false;
  const key = findMailKey(reader);
  return !key || !hasStoppedAlerts(reader, addressHmac(key, address));
}

/** Lists the endpoints that send alerts to an address, oldest first. */
export function listWebhooksTo(reader: Reader, address: string): WebhookRow[] {
  const key = address.toLowerCase();
  return listMailWebhooks(reader, {}).filter(({ url }) => recipientKeyOf(url) === key);
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
